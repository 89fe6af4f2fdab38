#pragma once
// Which cached rows a decode step attends to, by each of the methods that the simulator times
// (workloads/attention), computed rather than counted: same queries and keys, same budget of rows.
//
//   auto quest = make_quest(sample, 16);
//   const Choice choice = quest->choose({position, logits, budget});
//
// Steps come in ascending order of position, since what evicts rows remembers; a new sample or
// budget takes a new Selector. No method is given the newest row for free, and none has more rows
// than the budget: Quest's last page is cut to it. Of equal scores the lowest row wins.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "workloads/numerics/attention_sample.hpp"

namespace tiersim::numerics {

struct DecodeStep {
  Index position = 0;
  const RowVector& logits;  ///< exact, over rows 0 to position; for those that may see them
  Index budget = 0;         ///< rows, at most position + 1
};

struct Choice {
  std::vector<Index> rows;  ///< ascending
  /// Share of the output that is attention over the rows; the rest is the mean of all values seen
  /// so far (SparQ's reallocation). 1 with all other methods.
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

/// The rows with the most attention: what every choice is measured against.
SelectorPtr make_oracle();

/// Rows drawn without looking.
SelectorPtr make_random(Rng rng);

/// By any scores of rows 0 to a position (MAPLE's, in float64 or eight bits).
SelectorPtr make_by_scores(std::function<RowVector(Index position)> scores);

/// SparQ (Ribar et al. 2023, section 4, algorithm 1): the `components` largest components of the
/// query score the keys; softmax with temperature sqrt(head_dim * |q_r|_1 / |q|_1); the attention
/// that the chosen rows miss, by these scores, goes to the mean value.
SelectorPtr make_sparq(const AttentionSample& sample, Index components);

/// Eigenvectors of the keys' covariance, those of the largest eigenvalues first: head_dim x
/// head_dim, columns.
Matrix key_basis(const Matrix& keys);
/// Share of the keys' variance in the directions of that basis, largest first.
Vector variance_shares(const Matrix& keys, const Matrix& basis);

/// Loki (Singhania et al. 2024, algorithm 1): scores by the first `rank` coordinates in `basis`.
SelectorPtr make_loki(const AttentionSample& sample, const Matrix& basis, Index rank);

/// Quest (Tang et al. 2024, algorithm 1): pages by the sum over components of the larger of query *
/// smallest and query * largest key of the page, which no score in the page exceeds.
SelectorPtr make_quest(const AttentionSample& sample, Index page);

/// StreamingLLM (Xiao et al. 2023): the first `sinks` rows and the newest. Of a budget that small,
/// the newest row is among what is kept.
SelectorPtr make_streaming(Index sinks);

/// H2O (Zhang et al. 2023): half of the budget the newest rows, half those with the most attention
/// so far. `prompt_attention`: that of the rows of the prompt, summed over its queries. After the
/// prompt a step's attention, over the rows that are left, is added; a row that is gone stays gone.
SelectorPtr make_h2o(const Vector& prompt_attention);

}  // namespace tiersim::numerics
