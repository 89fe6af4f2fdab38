#include "hwmodels/calibrate/fit/time_table.hpp"

#include <math.h>  // NOLINT(*-deprecated-headers): Boost 1.74 calls isnan without std::

#include <algorithm>

#include <boost/math/interpolators/pchip.hpp>

#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kFewestKnots = 4;  // that PCHIP needs
constexpr std::size_t kMostKnots = 8;
constexpr std::size_t kGroup = 5;

struct KnotGroup {
  double weight = 0;
  double log_modelled = 0;  // weighted mean
  double log_measured = 0;

  void add(const KnotGroup& other) {
    const double sum = weight + other.weight;
    log_modelled = (weight * log_modelled + other.weight * other.log_modelled) / sum;
    log_measured = (weight * log_measured + other.weight * other.log_measured) / sum;
    weight = sum;
  }
};

}  // namespace

std::vector<TimeKnot> build_table(std::vector<TimePair> pairs) {
  std::ranges::stable_sort(pairs, {}, &TimePair::modelled);
  const std::size_t count = std::min(kMostKnots, pairs.size() / kGroup);
  if (count < kFewestKnots) return {};
  std::vector<KnotGroup> groups;
  for (std::size_t g = 0; g < count; ++g) {
    KnotGroup group;
    for (std::size_t i = g * pairs.size() / count; i < (g + 1) * pairs.size() / count; ++i)
      group.add(
          {pairs[i].weight, portable_log(pairs[i].modelled), portable_log(pairs[i].measured)});
    groups.push_back(group);
    while (groups.size() > 1 &&
           (groups.back().log_measured <= groups[groups.size() - 2].log_measured ||
            groups.back().log_modelled <= groups[groups.size() - 2].log_modelled)) {
      groups[groups.size() - 2].add(groups.back());
      groups.pop_back();
    }
  }
  if (groups.size() < kFewestKnots) return {};
  std::vector<TimeKnot> table;
  for (const KnotGroup& group : groups)
    table.push_back({portable_exp(group.log_modelled), portable_exp(group.log_measured)});
  return table;
}

double through_table(const std::vector<TimeKnot>& table, double modelled) {
  if (table.empty() || modelled <= 0) return modelled;
  const TimeKnot& first = table.front();
  const TimeKnot& last = table.back();
  if (modelled <= first.modelled) return modelled * (first.measured / first.modelled);
  if (modelled >= last.modelled) return modelled * (last.measured / last.modelled);
  std::vector<double> x;
  std::vector<double> y;
  for (const TimeKnot& knot : table) {
    x.push_back(portable_log(knot.modelled));
    y.push_back(portable_log(knot.measured));
  }
  const boost::math::interpolators::pchip<std::vector<double>> curve(std::move(x), std::move(y));
  return portable_exp(curve(portable_log(modelled)));
}

}  // namespace tiersim
