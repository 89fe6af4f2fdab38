#pragma once
// The methods that run a model's indexer: `dsa` over latents and `msa` over blocks of grouped
// queries, whose cards stand in dsa.hpp and msa.hpp. Layers of shared_index keep no index keys and
// choose nothing; layers without an indexer attend to every row.
#include <memory>

#include "workloads/attention/method.hpp"

namespace tiersim {

/// The method for indexers of this kind.
std::unique_ptr<Method> make_indexed_rows(IndexerKind kind);

}  // namespace tiersim
