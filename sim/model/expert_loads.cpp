#include "sim/model/expert_loads.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {
namespace {

constexpr int kDraws = 8;          // which expert has which load; more move a time by under 1 %
constexpr int kCapRounds = 3;      // of scaling loads so that none exceeds one row a token
constexpr double kNearOne = 1e-3;  // of an exponent from 1, where the law is 1 / x within 1 %
constexpr double kMostOf = 0.8;    // of the tokens, for one expert before scaling

void add(ExpertLoads& loads, double rows, double count) {
  if (rows <= 0) return;
  loads.active += count;
  loads.rows += count * rows;
  for (std::size_t i = 0; i < kExpertTiles.size(); ++i)
    loads.tiles[i] += count * std::ceil(rows / kExpertTiles[i]);
}

ExpertLoads balanced(const ExpertRouting& r) {
  const double pairs = r.tokens * r.top_k;
  const double local = std::ceil(r.experts / r.ranks);
  const double each = std::floor(pairs / r.experts);
  const double more = std::min(local, std::ceil((pairs - each * r.experts) / r.ranks));
  ExpertLoads loads;
  add(loads, each + 1, more);
  add(loads, each, local - more);
  return loads;
}

// Whole numbers near `wanted` with this sum: the largest fractions are rounded up, to `most`.
void round_to_sum(std::vector<double>& wanted, double sum, double most) {
  std::vector<std::pair<double, std::size_t>> fractions;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double whole = std::floor(wanted[i]);
    fractions.emplace_back(whole - wanted[i], i);
    wanted[i] = whole;
    sum -= whole;
  }
  std::ranges::sort(fractions);
  while (sum >= 1)
    for (const auto& [fraction, i] : fractions) {
      if (sum < 1) break;
      if (wanted[i] >= most) continue;
      wanted[i] += 1;
      sum -= 1;
    }
}

// Rows of the experts, ascending: quantiles of the power law between the least and the most.
std::vector<double> power_law(const ExpertRouting& r) {
  const double pairs = r.tokens * r.top_k;
  const bool many = pairs > r.experts;
  const double least = many ? 1 : 0.01;
  const double most = std::max(many ? kMostOf * r.tokens : 2, 1.0001 * least);
  const double power = 1 - r.skew;
  const bool logarithmic = std::abs(power) < kNearOne;
  const double low = logarithmic ? portable_log(least) : portable_pow(least, power);
  const double high = logarithmic ? portable_log(most) : portable_pow(most, power);
  std::vector<double> loads(static_cast<std::size_t>(r.experts));
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const double at = low + (high - low) * (static_cast<double>(i) + 0.5) / r.experts;
    loads[i] = logarithmic ? portable_exp(at) : portable_pow(at, 1 / power);
  }
  for (int round = 0; round < kCapRounds; ++round) {
    const double scale = pairs / std::accumulate(loads.begin(), loads.end(), 0.0);
    for (double& load : loads) load = std::min(load * scale, r.tokens);
  }
  round_to_sum(loads, pairs, r.tokens);
  return loads;
}

// Adds the GPU with most rows, where the experts are dealt to the GPUs in this order.
void add_hottest(const std::vector<double>& loads, const std::vector<std::size_t>& order,
                 std::size_t local, ExpertLoads& sum) {
  const auto part = [&](std::size_t first) {
    return std::span(order).subspan(first, std::min(local, order.size() - first));
  };
  std::size_t hottest = 0;
  double most = -1;
  for (std::size_t first = 0; first < order.size(); first += local) {
    double rows = 0;
    for (const std::size_t i : part(first)) rows += loads[i];
    if (rows <= most) continue;
    most = rows;
    hottest = first;
  }
  for (const std::size_t i : part(hottest)) add(sum, loads[i], 1);
}

}  // namespace

ExpertLoads mean_loads(double active, double rows) {
  ExpertLoads loads;
  add(loads, rows / active, active);
  return loads;
}

ExpertLoads expert_loads(const ExpertRouting& routing) {
  const ExpertRouting& r = routing;
  TS_EXPECTS(r.tokens >= 1 && r.top_k >= 1 && r.experts >= r.top_k, r.tokens, r.top_k, r.experts);
  TS_EXPECTS(r.ranks >= 1 && r.experts >= r.ranks && r.skew >= 0, r.ranks, r.experts, r.skew);
  if (r.skew == 0) return balanced(r);
  const std::vector<double> loads = power_law(r);
  const auto local = static_cast<std::size_t>(std::ceil(r.experts / r.ranks));
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  ExpertLoads sum;
  Rng rng(1, "experts");
  const int draws = r.ranks > 1 ? kDraws : 1;
  for (int draw = 0; draw < draws; ++draw) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    add_hottest(loads, order, local, sum);
  }
  sum.active /= draws;
  sum.rows /= draws;
  for (double& tiles : sum.tiles) tiles /= draws;
  return sum;
}

}  // namespace tiersim
