#include <nlohmann/json.hpp>

#include "reports/hardware/hardware_text.hpp"
#include "reports/hardware/point_label.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

Json case_json(const CurveReading& curve, const PointReading& point, Fidelity level) {
  const auto i = static_cast<std::size_t>(level);
  const LevelResult& reading = point.readings[i];
  const double band = curve.facts.band;
  Json out{{"id", case_id(curve.facts, point.point)},
           {"group", curve.facts.group},
           {"level", kFidelityNames[i]},
           {"predicted", nullptr},
           {"reference", point.point.value},
           {"unit", unit_of(curve.facts.quantity)},
           {"error", nullptr},
           {"band", {point.point.low() * (1 - band), point.point.high() * (1 + band)}},
           {"status", name(curve.status(point, level))},
           {"kind", kReferenceKindNames[static_cast<std::size_t>(curve.facts.kind)]},
           {"source", curve.facts.source}};
  if (point.point.other) out["other_reference"] = *point.point.other;
  if (reading.value) {
    out["predicted"] = *reading.value;
    out["error"] = point.point.error_of(*reading.value);
    if (!point.point.known[i].empty()) out["why"] = point.point.known[i];
  } else {
    out["why"] = reading.why_none;
  }
  return out;
}

}  // namespace

std::string to_json(const std::vector<CurveReading>& curves) {
  Json cases = Json::array();
  for (const CurveReading& curve : curves)
    for (const PointReading& point : curve.points)
      for (const Fidelity level : kFidelities) cases.push_back(case_json(curve, point, level));
  Json summary = Json::object();
  for (const Fidelity level : kFidelities) {
    const HardwareCounts c = counts_of(curves, level);
    summary[std::string(kFidelityNames[static_cast<std::size_t>(level)])] = {
        {"within", c.within},
        {"known", c.known},
        {"outside", c.outside},
        {"median_error", c.median},
        {"worst_error", c.worst}};
  }
  return Json{{"cases", std::move(cases)}, {"summary", std::move(summary)}}.dump() + '\n';
}

}  // namespace tiersim
