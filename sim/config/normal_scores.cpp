#include "sim/config/normal_scores.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"

namespace tiersim::detail {
namespace {

using Matrix = std::vector<std::vector<double>>;

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = 0;
  for (std::size_t i = N; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// The correlations as a matrix with 1 + `more` on its diagonal.
Matrix full(std::size_t n, const std::vector<double>& correlations, double more) {
  TS_EXPECTS(correlations.size() == n * (n - 1) / 2, n, correlations.size());
  Matrix out(n, std::vector<double>(n, 1 + more));
  std::size_t next = 0;
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t column = row + 1; column < n; ++column)
      out[row][column] = out[column][row] = correlations[next++];
  return out;
}

// L with L L^T = m, or nothing if m has a negative eigenvalue. A pivot that rounding leaves near
// zero is taken as zero: its number is a linear combination of those before it.
std::optional<Matrix> cholesky(const Matrix& m) {
  constexpr double kRounding = 1e-12;
  const std::size_t n = m.size();
  Matrix lower(n, std::vector<double>(n));
  for (std::size_t column = 0; column < n; ++column)
    for (std::size_t row = column; row < n; ++row) {
      double rest = m[row][column];
      for (std::size_t k = 0; k < column; ++k) rest -= lower[row][k] * lower[column][k];
      const double pivot = lower[column][column];
      if (row == column) {
        if (rest < -kRounding) return std::nullopt;
        lower[row][column] = rest < kRounding ? 0 : std::sqrt(rest);
      } else if (pivot > 0) {
        lower[row][column] = rest / pivot;
      } else if (std::abs(rest) > std::sqrt(kRounding)) {
        return std::nullopt;
      }
    }
  return lower;
}

// Rounding each element by at most 0.0005 moves an eigenvalue by at most the row sum of these
// errors.
std::optional<Matrix> factor(std::size_t n, const std::vector<double>& correlations) {
  if (auto exact = cholesky(full(n, correlations, 0))) return exact;
  return cholesky(full(n, correlations, 0.0005 * static_cast<double>(n - 1)));
}

}  // namespace

double normal_quantile(double p) {
  TS_EXPECTS(p >= 1e-10 && p <= 1 - 1e-10, p);
  constexpr std::array kCentre{3.3871328727963666080e0, 1.3314166789178437745e2,
                               1.9715909503065514427e3, 1.3731693765509461125e4,
                               4.5921953931549871457e4, 6.7265770927008700853e4,
                               3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr std::array kCentreBelow{1.0,
                                    4.2313330701600911252e1,
                                    6.8718700749205790830e2,
                                    5.3941960214247511077e3,
                                    2.1213794301586595867e4,
                                    3.9307895800092710610e4,
                                    2.8729085735721942674e4,
                                    5.2264952788528545610e3};
  constexpr std::array kTail{1.42343711074968357734e0,  4.63033784615654529590e0,
                             5.76949722146069140550e0,  3.64784832476320460504e0,
                             1.27045825245236838258e0,  2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr std::array kTailBelow{1.0,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.425 * 0.425 - q * q;
    return q * polynomial(kCentre, r) / polynomial(kCentreBelow, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p)) - 1.6;
  const double z = polynomial(kTail, r) / polynomial(kTailBelow, r);
  return q < 0 ? -z : z;
}

Scores shuffled_scores(std::size_t draws, std::uint64_t seed, std::string_view stream) {
  Scores scores(draws);
  for (std::size_t i = 0; i < draws; ++i)
    scores[i] = normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(draws));
  Rng rng(seed, stream);
  for (std::size_t left = draws; left > 1; --left)
    std::swap(scores[left - 1], scores[static_cast<std::size_t>(rng.below(left))]);
  return scores;
}

bool are_correlations(std::size_t n, const std::vector<double>& correlations) {
  return std::ranges::all_of(correlations, [](double r) { return std::abs(r) <= 1; }) &&
         factor(n, correlations).has_value();
}

void correlate(std::vector<Scores>& samples, const std::vector<double>& correlations) {
  const auto lower = factor(samples.size(), correlations);
  TS_EXPECTS(lower.has_value());
  const std::vector<Scores> independent = samples;
  for (std::size_t number = 1; number < samples.size(); ++number) {
    const std::size_t draws = samples[number].size();
    Scores mixed(draws);
    for (std::size_t k = 0; k <= number; ++k)
      for (std::size_t i = 0; i < draws; ++i) mixed[i] += (*lower)[number][k] * independent[k][i];
    std::vector<std::size_t> by_rank(draws);
    std::iota(by_rank.begin(), by_rank.end(), std::size_t{0});
    std::ranges::stable_sort(by_rank, {}, [&](std::size_t i) { return mixed[i]; });
    Scores sorted = independent[number];
    std::ranges::sort(sorted);
    for (std::size_t rank = 0; rank < draws; ++rank) samples[number][by_rank[rank]] = sorted[rank];
  }
}

}  // namespace tiersim::detail
