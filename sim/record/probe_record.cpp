#include "sim/record/probe_record.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr double kPerGiga = 1e-9;

template <class T>
double in_base(const std::optional<T>& quantity) {
  return quantity ? static_cast<double>(quantity->in_base()) : 0;
}

}  // namespace

std::string_view unit_of(ProbeQuantity quantity) {
  constexpr std::array<std::string_view, 7> kUnits{"GB/s", "", "G/s", "ns", "us", "GB/s", ""};
  return kUnits[static_cast<std::size_t>(quantity)];
}

ProbeWorkload ProbeWorkload::over(const ProbeWorkload& curve) const {
  const auto of = [](const auto& own, const auto& other) { return own ? own : other; };
  return {.pattern = of(pattern, curve.pattern),
          .run = of(run, curve.run),
          .size = of(size, curve.size),
          .rate = of(rate, curve.rate),
          .read_share = of(read_share, curve.read_share),
          .streams = of(streams, curve.streams),
          .ranks = of(ranks, curve.ranks),
          .operation = of(operation, curve.operation),
          .copies = of(copies, curve.copies),
          .outstanding = of(outstanding, curve.outstanding),
          .items = of(items, curve.items),
          .launch = of(launch, curve.launch),
          .cpu_rate = of(cpu_rate, curve.cpu_rate)};
}

double ReferencePoint::error_of(double answer) const {
  const double nearest = std::clamp(answer, low(), high());
  TS_EXPECTS(nearest > 0, value);
  return (answer - nearest) / nearest;
}

double ReferencePoint::x(ProbeAxis axis) const {
  switch (axis) {
    case ProbeAxis::none:
      return 0;
    case ProbeAxis::run:
      return in_base(at.run);
    case ProbeAxis::size:
      return in_base(at.size);
    case ProbeAxis::rate:
      return in_base(at.rate) * kPerGiga;
    case ProbeAxis::read_share:
      return at.read_share.value_or(1);
    case ProbeAxis::items:
      return static_cast<double>(at.items.value_or(0));
    case ProbeAxis::cpu_rate:
      return in_base(at.cpu_rate) * kPerGiga;
    case ProbeAxis::ranks:
      return static_cast<double>(at.ranks.value_or(0));
  }
  return 0;
}

ProbeStatus CurveReading::status(const PointReading& point, Fidelity level) const {
  const auto i = static_cast<std::size_t>(level);
  const LevelResult& reading = point.readings[i];
  if (!reading.value) return ProbeStatus::none;
  if (std::ranges::find(facts.held, level) == facts.held.end()) return ProbeStatus::not_held;
  const bool within = std::abs(point.point.error_of(*reading.value)) <= facts.band;
  if (point.point.known[i].empty()) return within ? ProbeStatus::within : ProbeStatus::outside;
  return within ? ProbeStatus::stale : ProbeStatus::known;
}

}  // namespace tiersim
