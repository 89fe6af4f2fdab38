#pragma once
// One head's queries, keys and values over a sequence, and its exact attention: the input on which
// every selection method is measured.
#include <vector>

#include "workloads/numerics/matrices.hpp"

namespace tiersim::numerics {

/// Row t belongs to position t, and the query of position t attends to rows 0 to t. Queries may be
/// known for the newest positions only: row i of `q` belongs to position first_query() + i.
struct AttentionSample {
  Matrix q;               ///< queries x head_dim
  Matrix k;               ///< tokens x head_dim
  Matrix v;               ///< tokens x value_dim
  Index decode_from = 0;  ///< first decoded position; earlier ones are the prompt

  Index tokens() const { return k.rows(); }
  Index head_dim() const { return k.cols(); }
  Index first_query() const { return k.rows() - q.rows(); }
  auto query(Index position) const { return q.row(position - first_query()); }
};

/// q K^T / sqrt(head_dim) of the query at `position`, over rows 0 to `position`.
RowVector exact_logits(const AttentionSample& sample, Index position);

/// Softmax of one row, computed with +, -, * and / only, so that all platforms give the same bits.
RowVector softmax(const RowVector& logits);

/// Attention to each row, summed over the queries at positions before `until`; of length `until`.
/// The query of every position must be known.
Vector accumulated_attention(const AttentionSample& sample, Index until);

/// The `count` columns with the highest scores, in ascending order; of equal scores the lowest
/// index wins. count is at most the number of columns.
std::vector<Index> highest(const RowVector& scores, Index count);

}  // namespace tiersim::numerics
