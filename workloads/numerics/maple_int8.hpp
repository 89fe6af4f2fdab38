#pragma once
// MAPLE in eight bits, as its screening kernel does it: the matrices W_q, W_k (section 3.1 of the
// paper), the stored low-rank keys and the query of a step; scores are whole numbers in 32 bits.
//
// Symmetric, with one scale a column: x = scale * n, n in -127..127, rounded to nearest. The keys'
// scales are fixed by the prompt; what a later key has beyond them is cut off. A query takes the
// keys' scales into itself before it gets one scale of its own, so the integer score of a token is
// its score over one factor that all tokens share, and the order of the tokens is that of the
// integers. X P stays in floating point: the paper quantises the parameters.
#include "workloads/numerics/attention_sample.hpp"
#include "workloads/numerics/maple_distillation.hpp"

namespace tiersim::numerics {

inline constexpr double kInt8Max = 127;

/// A matrix of whole numbers and what its columns are multiplied by.
struct Int8Matrix {
  Eigen::MatrixXi numbers;  ///< -127..127
  RowVector scale;          ///< one a column; 0 where the column is

  Matrix values() const { return numbers.cast<double>() * scale.asDiagonal(); }
};

/// Scales are those of the first `scaled_by` rows; elements beyond them are cut off.
Int8Matrix quantised(const Matrix& a, Eigen::Index scaled_by);

/// Low-rank queries and keys of one head over one text, in float64 and in eight bits.
class Int8Screen {
 public:
  /// projected: X P, tokens x k. The first `prompt` tokens fix the scales of the keys.
  Int8Screen(const Matrix& projected, const LowRankHead& head, Eigen::Index prompt);

  /// Scores of rows 0 to `position` for the query there: whole numbers.
  RowVector integer_scores(Eigen::Index position) const;
  /// What an integer score of that query is multiplied by.
  double unit(Eigen::Index position) const;
  /// Q~ K~^T in float64, before anything is rounded.
  RowVector exact_scores(Eigen::Index position) const;
  /// The most by which unit * integer score can differ from the exact one, a row each:
  ///   sum over c of (dq_c + t / (2 s_c)) |k'_c| + |q_c| (dk_c + e_c)
  /// where dq_c = w_c ||S_i||_1 / 2 bounds what rounding W_q does to a query element (w_c: scale of
  /// its column, S_i: row of X P), dk_c is the same of a key, s_c the stored key's scale, e_c =
  /// max(s_c / 2, |k_c| - 127 s_c) what storing it in eight bits does, t the query's scale, and k'
  /// the stored key. Columns whose keys are all 0 have no part in it.
  RowVector error_bound(Eigen::Index position) const;

  const Matrix& exact_queries() const { return q_; }
  const Matrix& exact_keys() const { return k_; }

 private:
  struct Query {
    Eigen::RowVectorXi numbers;
    double unit = 0;
  };
  Query quantised_query(Eigen::Index position) const;

  Matrix q_;  // exact, tokens x rank
  Matrix k_;
  Matrix rounded_q_;  // with the rounded W_q
  Int8Matrix stored_;
  Matrix q_error_;  // dq, tokens x rank
  Matrix k_error_;  // dk + e
};

/// Of the `count` rows that the exact scores choose, how many scores that are wrong by at most
/// `bound` may miss: those that a row outside can reach.
Eigen::Index rows_at_risk(const RowVector& exact, const RowVector& bound, Eigen::Index count);

}  // namespace tiersim::numerics
