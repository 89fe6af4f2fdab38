// Check for cases far from the line between their neighbours in size, in log t over log size.
//
// Among cases whose works are all proportional, t = t0 + c w. Between w = 1 and w = r the curve
// lies below the line by at most log((sqrt r + 1) / (2 r^(1/4))), where t0 = c sqrt r, and never
// above it. Any further distance is noise, or an effect that the model leaves out.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_checks.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::detail {
namespace {

constexpr double kProportional = 0.01;  // tolerance of ratios of works
constexpr double kApart = 1.05;         // least ratio of sizes of neighbours
constexpr std::size_t kFewest = 5;      // least number of residuals for a median absolute deviation
constexpr double kMadToDeviation = 1.4826;  // of a normal distribution

// The nearest case in size, below or above.
struct Neighbour {
  std::size_t index = 0;
  double log_size = 0;  // log of its size over that of the case itself
};

struct Residual {
  std::size_t index = 0;
  Neighbour below, above;
  double value = 0;  // log t minus the line
  double noise = 0;  // its standard deviation
  double gap = 0;    // largest distance of the curve below the line
};

// The factor between the works of `a` and `b`, where it is the same for all works; else empty.
std::optional<double> scale(const TimingCase& a, const TimingCase& b) {
  if (!comparable(a, b)) return std::nullopt;
  const double up = work_ratio(a, b);
  const double down = work_ratio(b, a);
  const bool proportional =
      std::isfinite(up) && std::isfinite(down) && up > 0 && up * down <= 1 + kProportional;
  if (!proportional) return std::nullopt;
  return up;
}

class Line {
 public:
  Line(const TimingSet& timings, const std::vector<std::size_t>& members)
      : timings_(timings), members_(members) {}

  std::optional<Residual> residual(std::size_t index, const std::vector<bool>& out) const {
    std::optional<Neighbour> below;
    std::optional<Neighbour> above;
    for (const std::size_t other : members_) {
      if (other == index || out[other]) continue;
      const auto size = scale(timings_.cases[other], timings_.cases[index]);
      if (!size || !same_side_of_l2(other, index)) continue;
      const Neighbour neighbour{other, portable_log(*size)};
      if (*size >= kApart && (!above || neighbour.log_size < above->log_size)) above = neighbour;
      if (*size <= 1 / kApart && (!below || neighbour.log_size > below->log_size)) {
        below = neighbour;
      }
    }
    if (!below || !above) return std::nullopt;
    return against(index, *below, *above);
  }

 private:
  bool same_side_of_l2(std::size_t a, std::size_t b) const {
    const TimingCase& first = timings_.cases[a];
    if (first.temperature == Temperature::cold) return true;
    const double bytes = std::max(first.work.memory_bytes, timings_.cases[b].work.memory_bytes);
    const double least = std::min(first.work.memory_bytes, timings_.cases[b].work.memory_bytes);
    const double l2 = timings_.l2_bytes;
    return l2 > 0 && (bytes <= l2 / 2 || least >= 4 * l2);
  }

  Residual against(std::size_t index, Neighbour below, Neighbour above) const {
    const TimingCase& timing = timings_.cases[index];
    const TimingCase& low = timings_.cases[below.index];
    const TimingCase& high = timings_.cases[above.index];
    // Weight of the upper neighbour.
    const double weight = -below.log_size / (above.log_size - below.log_size);
    const auto square = [](double x) { return x * x; };
    Residual out;
    out.index = index;
    out.below = below;
    out.above = above;
    out.value = portable_log(timing.seconds) - (1 - weight) * portable_log(low.seconds) -
                weight * portable_log(high.seconds);
    out.noise = std::sqrt(square(log_noise(timing)) + square((1 - weight) * log_noise(low)) +
                          square(weight * log_noise(high)));
    const double half = (above.log_size - below.log_size) / 2;  // log of sqrt r
    out.gap = portable_log((portable_exp(half) + 1) / (2 * portable_exp(half / 2)));
    return out;
  }

  const TimingSet& timings_;
  const std::vector<std::size_t>& members_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// 1.4826 times the median absolute deviation of the residuals that do not involve case `of`. It
// estimates noise that the intervals do not state.
double spread(const std::vector<Residual>& residuals, const Residual& of) {
  std::vector<double> values;
  for (const Residual& residual : residuals) {
    const bool touches = residual.index == of.index || residual.below.index == of.index ||
                         residual.above.index == of.index;
    if (!touches) values.push_back(residual.value);
  }
  if (values.size() < kFewest) return 0;
  const double middle = median(values);
  for (double& value : values) value = std::abs(value - middle);
  return kMadToDeviation * median(values);
}

void check_line(const TimingSet& timings, const std::vector<std::size_t>& members, double errors,
                Findings& findings) {
  const Line line(timings, members);
  std::vector<bool> out(timings.cases.size());
  for (const std::size_t index : members) out[index] = findings.refused(index);
  while (true) {
    std::vector<Residual> residuals;
    for (const std::size_t index : members) {
      if (out[index]) continue;
      if (const auto residual = line.residual(index, out)) residuals.push_back(*residual);
    }
    const Residual* worst = nullptr;
    double most = 0;
    for (const Residual& residual : residuals) {
      const double limit = errors * std::max(residual.noise, spread(residuals, residual)) +
                           portable_log(1 + kModelMargin) + (residual.value < 0 ? residual.gap : 0);
      const double over = std::abs(residual.value) - limit;
      if (over <= most) continue;
      most = over;
      worst = &residual;
    }
    if (worst == nullptr) return;
    out[worst->index] = true;
    findings.refuse(
        worst->index, "off the trend",
        fmt::format(
            "{:.5g} us is {:.3g} times what '{}' and '{}' on its two sides say, where noise, "
            "curvature and model together allow {:.3g}",
            timings.cases[worst->index].seconds * 1e6, portable_exp(worst->value),
            timings.cases[worst->below.index].name, timings.cases[worst->above.index].name,
            portable_exp((worst->value < 0 ? -1 : 1) * (std::abs(worst->value) - most))));
  }
}

}  // namespace

void check_trend(const TimingSet& timings, Findings& findings) {
  using Key = std::tuple<std::string, std::string, std::string, Temperature, bool>;
  std::map<Key, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < timings.cases.size(); ++i) {
    const TimingCase& timing = timings.cases[i];
    if (!(timing.seconds > 0)) continue;
    groups[{timing.kernel, timing.variant, timing.dtype, timing.temperature, timing.baseline}]
        .push_back(i);
  }
  const double errors = standard_errors(2 * timings.cases.size());
  for (const auto& [key, members] : groups) {
    if (members.size() > 2) check_line(timings, members, errors, findings);
  }
}

}  // namespace tiersim::detail
