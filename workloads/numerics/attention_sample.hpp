#pragma once
// One head's queries, keys and values over a sequence, and what exact attention makes of them. What
// every selection method is measured on.
#include <vector>

#include "workloads/numerics/matrices.hpp"

namespace tiersim::numerics {

using Index = Eigen::Index;

/// Row t belongs to position t, and the query of position t sees rows 0 to t. Queries may be known
/// of the newest positions only: row i of `q` belongs to position first_query() + i.
struct AttentionSample {
  Matrix q;               ///< queries x head_dim
  Matrix k;               ///< tokens x head_dim
  Matrix v;               ///< tokens x value_dim
  Index decode_from = 0;  ///< first position whose query is decoded; those before are the prompt

  Index tokens() const { return k.rows(); }
  Index head_dim() const { return k.cols(); }
  Index first_query() const { return k.rows() - q.rows(); }
  auto query(Index position) const { return q.row(position - first_query()); }
};

/// q K^T / sqrt(head_dim) of the query at `position`, over the rows that it sees.
RowVector exact_logits(const AttentionSample& sample, Index position);

/// Softmax of one row, from +, -, *, / alone: the same bits everywhere.
RowVector softmax(const RowVector& logits);

/// Attention that each row has had from the queries at positions before `until`, summed; as long as
/// `until`. Needs the query of every position.
Vector accumulated_attention(const AttentionSample& sample, Index until);

/// The `count` columns with the highest scores, in ascending order; of equal scores the lowest
/// index wins. count is at most the number of columns.
std::vector<Index> highest(const RowVector& scores, Index count);

}  // namespace tiersim::numerics
