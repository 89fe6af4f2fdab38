#pragma once
// The methods at their settings, each with its screening bytes: bytes read for each cached token
// and head before the chosen rows are read. Keys are BF16 (2 bytes an element), MAPLE's low-rank
// keys eight bits, Quest's bounds BF16, two for each page. H2O reads and writes an fp32 sum for
// each kept row, StreamingLLM reads nothing, and the oracle reads every key.
#include <functional>
#include <string>
#include <vector>

#include "workloads/numerics/head_case.hpp"

namespace tiersim::numerics {

struct SelectionMethod {
  std::string name;     ///< "maple"
  std::string setting;  ///< "rank 16"; empty where there is none
  double bytes_a_token = 0;
  double bytes_a_kept_row = 0;
  std::function<SelectorPtr(const HeadCase&)> make;

  /// Bytes for each cached token, when this share of the rows is kept.
  double screening_bytes(double share) const { return bytes_a_token + bytes_a_kept_row * share; }
};

SelectionMethod oracle_method(Index head_dim);
SelectionMethod random_method();
SelectionMethod streaming_method();
SelectionMethod h2o_method();
SelectionMethod quest_method(Index head_dim, Index page);
SelectionMethod sparq_method(Index components);
SelectionMethod loki_method(Index rank);
/// MAPLE in eight bits; `place`: index of the fit in HeadCase::maple.
SelectionMethod maple_method(Index rank, std::size_t place);
/// MAPLE in float64, before any rounding.
SelectionMethod maple_float64_method(Index rank, std::size_t place);

}  // namespace tiersim::numerics
