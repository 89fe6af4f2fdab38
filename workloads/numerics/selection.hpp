#pragma once
// The cached rows that a decode step attends to, for each method that the simulator times
// (workloads/attention). Here they are computed rather than counted, on the same queries and keys
// and with the same budget of rows.
//
//   auto quest = make_quest(sample, 16);
//   const Choice choice = quest->choose({position, logits, budget});
//
// Steps come in ascending order of position, since methods that evict rows have state; a new sample
// or budget needs a new Selector. No method gets the newest row for free, and none has more rows
// than the budget: Quest's last page is cut to it. Among equal scores the lowest row wins.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "workloads/numerics/attention_sample.hpp"

namespace tiersim::numerics {

struct DecodeStep {
  Index position = 0;
  const RowVector& logits;  ///< exact, over rows 0 to position; for methods that may use them
  Index budget = 0;         ///< rows, at most position + 1
};

struct Choice {
  std::vector<Index> rows;  ///< in rising order
  /// Share of the output that is attention over the rows; the rest is the mean of all values so far
  /// (SparQ's reallocation). 1 for all other methods.
  double attended = 1;
};

class Selector {
 public:
  Selector() = default;
  Selector(const Selector&) = delete;
  Selector& operator=(const Selector&) = delete;
  virtual ~Selector() = default;
  virtual Choice choose(const DecodeStep& step) = 0;
};
using SelectorPtr = std::unique_ptr<Selector>;

/// The rows with the most attention: the reference of every choice.
SelectorPtr make_oracle();

/// Rows drawn at random.
SelectorPtr make_random(Rng rng);

/// Rows by given scores of rows 0 to a position (MAPLE's, in float64 or eight bits).
SelectorPtr make_by_scores(std::function<RowVector(Index position)> scores);

/// SparQ (Ribar et al. 2023, section 4, algorithm 1): the `components` largest components of the
/// query score the keys, with a softmax of temperature sqrt(head_dim * |q_r|_1 / |q|_1). By these
/// scores, the attention outside of the chosen rows goes to the mean value.
SelectorPtr make_sparq(const AttentionSample& sample, Index components);

/// Eigenvectors of the keys' covariance as columns, by falling eigenvalue: head_dim x head_dim.
Matrix key_basis(const Matrix& keys);
/// Shares of the keys' variance in the directions of that basis, largest first.
Vector variance_shares(const Matrix& keys, const Matrix& basis);

/// Loki (Singhania et al. 2024, algorithm 1): scores by the first `rank` coordinates in `basis`.
SelectorPtr make_loki(const AttentionSample& sample, const Matrix& basis, Index rank);

/// Quest (Tang et al. 2024, algorithm 1): scores pages by the sum over components of the larger of
/// query * smallest and query * largest key of the page, an upper bound of its scores.
SelectorPtr make_quest(const AttentionSample& sample, Index page);

/// StreamingLLM (Xiao et al. 2023): the first `sinks` rows and the newest. A budget of at most
/// `sinks` rows still includes the newest row.
SelectorPtr make_streaming(Index sinks);

/// H2O (Zhang et al. 2023): half of the budget for the newest rows, half for those with the most
/// attention so far. `prompt_attention`: attention to the prompt's rows, summed over its queries.
/// After the prompt each step adds its attention over the kept rows; an evicted row never returns.
SelectorPtr make_h2o(const Vector& prompt_attention);

}  // namespace tiersim::numerics
