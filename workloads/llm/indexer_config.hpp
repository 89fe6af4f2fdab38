#pragma once
// The indexer of DeepSeek sparse attention (DSA; DeepSeek-V3.2-Exp, arXiv 2512.02556, and GLM-5):
// small heads score every cached position by one key of its own, and attention reads the rows of
// the `top_k` best.
#include <cstdint>
#include <vector>

#include "sim/config/fields.hpp"
#include "workloads/llm/product.hpp"

namespace tiersim {

struct IndexerConfig {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;  ///< also of the one key a position
  std::int64_t top_k = 0;     ///< positions that attention reads

  /// Products from the residual stream and from the latent of the queries: the index key, the
  /// weight of each head, and the index queries.
  std::vector<Product> projections(std::int64_t hidden, std::int64_t query_latent) const {
    return {full_product(hidden, head_dim), full_product(hidden, heads),
            full_product(query_latent, heads * head_dim)};
  }
  /// Weights that are no matrices: scale and bias of the key's norm.
  std::int64_t vectors() const { return 2 * head_dim; }

  friend bool operator==(const IndexerConfig&, const IndexerConfig&) = default;
};
void describe(Fields& f, IndexerConfig& c);

}  // namespace tiersim
