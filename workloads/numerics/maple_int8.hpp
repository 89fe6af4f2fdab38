#pragma once
// MAPLE in eight bits, as in its screening kernel: the matrices W_q and W_k (section 3.1 of the
// paper), the stored low-rank keys and the query of a step. Scores are 32-bit integers.
//
// The quantisation is symmetric, with one scale for each column: x = scale * n, n in -127..127,
// rounded to nearest. The prompt fixes the keys' scales, and later keys are clipped to them. A
// query absorbs the keys' scales before it gets a scale of its own. The integer score of a token
// is then its score over a factor that all tokens share, and has the same order. X P stays in
// floating point: the paper quantises the parameters.
#include "workloads/numerics/attention_sample.hpp"
#include "workloads/numerics/maple_distillation.hpp"

namespace tiersim::numerics {

inline constexpr double kInt8Max = 127;

/// An integer matrix with a scale for each of its columns.
struct Int8Matrix {
  Eigen::MatrixXi numbers;  ///< -127..127
  RowVector scale;          ///< of each column; 0 for a column of zeros

  Matrix values() const { return numbers.cast<double>() * scale.asDiagonal(); }
};

/// Quantises with the scales of the first `scaled_by` rows; larger elements are clipped.
Int8Matrix quantised(const Matrix& a, Eigen::Index scaled_by);

/// Low-rank queries and keys of one head over one text, in float64 and in eight bits.
class Int8Screen {
 public:
  /// projected: X P, tokens x k. The first `prompt` tokens set the keys' scales.
  Int8Screen(const Matrix& projected, const LowRankHead& head, Eigen::Index prompt);

  /// Integer scores of rows 0 to `position` for the query there.
  RowVector integer_scores(Eigen::Index position) const;
  /// Factor from integer scores of that query to scores.
  double unit(Eigen::Index position) const;
  /// Q~ K~^T in float64, before any rounding.
  RowVector exact_scores(Eigen::Index position) const;
  /// Bound on the difference between unit * integer score and the exact score, for each row:
  ///   sum over c of (dq_c + t / (2 s_c)) |k'_c| + |q_c| (dk_c + e_c)
  /// where dq_c = w_c ||S_i||_1 / 2 bounds the error of a query element by rounding W_q (w_c: scale
  /// of its column, S_i: row of X P) and dk_c that of a key element; s_c is the stored key's scale,
  /// e_c = max(s_c / 2, |k_c| - 127 s_c) the error of storing it in eight bits, t the query's
  /// scale, and k' the stored key. Columns where all keys are 0 do not count.
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

/// Number of the `count` rows chosen by exact scores that scores with errors up to `bound` may
/// miss: those that a row outside can overtake.
Eigen::Index rows_at_risk(const RowVector& exact, const RowVector& bound, Eigen::Index count);

}  // namespace tiersim::numerics
