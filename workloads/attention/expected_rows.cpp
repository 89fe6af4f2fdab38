#include "workloads/attention/expected_rows.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr double kSlack = 1e-9;  // far above rounding errors, far below the weight of a row

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// Probability that none of `page` given rows is chosen.
double missed(std::int64_t rows, std::int64_t chosen, std::int64_t page) {
  double chance = 1.0;
  for (std::int64_t i = 0; i < page && chance > 0.0; ++i)
    chance *= static_cast<double>(std::max<std::int64_t>(0, rows - chosen - i)) /
              static_cast<double>(rows - i);
  return chance;
}

}  // namespace

std::int64_t whole_up(double mean) {
  return static_cast<std::int64_t>(std::ceil(mean * (1.0 - kSlack)));
}

std::int64_t whole_down(double mean) {
  return static_cast<std::int64_t>(std::floor(mean * (1.0 + kSlack)));
}

std::int64_t expected_union(std::int64_t rows, std::int64_t chosen, double heads) {
  TS_EXPECTS(rows >= 1 && chosen >= 0 && chosen <= rows && heads >= 1.0, rows, chosen, heads);
  if (heads == 1.0 || chosen == 0 || chosen == rows) return chosen;
  const double skipped = static_cast<double>(rows - chosen) / static_cast<double>(rows);
  // e^-700 is below one row of any context, and the lower limit of portable_exp.
  const double untouched = portable_exp(std::max(-700.0, heads * portable_log(skipped)));
  const double reached = static_cast<double>(rows) * (1.0 - untouched);
  return std::clamp(whole_up(reached), chosen, rows);
}

std::int64_t expected_pages(std::int64_t rows, std::int64_t chosen, std::int64_t page) {
  TS_EXPECTS(rows >= 1 && chosen >= 0 && chosen <= rows && page >= 1, rows, chosen, page);
  if (page == 1) return chosen;
  const std::int64_t full = rows / page;
  const std::int64_t last = rows % page;
  double touched = 0.0;
  if (full > 0) touched += static_cast<double>(full) * (1.0 - missed(rows, chosen, page));
  if (last > 0) touched += 1.0 - missed(rows, chosen, last);
  return std::clamp(whole_up(touched), ceil_div(chosen, page), ceil_div(rows, page));
}

}  // namespace tiersim
