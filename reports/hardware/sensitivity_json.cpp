#include <algorithm>

#include <nlohmann/json.hpp>

#include "reports/hardware/sensitivity_text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

Json step_json(const SensitivityStep& step) {
  if (!step.refused.empty()) return {{"refused", step.refused}};
  Json out{{"factor", step.factor}, {"moved", nullptr}, {"fails", step.fails}};
  if (step.moved) out["moved"] = *step.moved;
  return out;
}

Json row_json(const DeviceSensitivity& device, const ParameterSensitivity& row) {
  Json out{{"id", device.name + '.' + row.path},
           {"device", device.name},
           {"parameter", row.path},
           {"value", row.value},
           {"status", name(row.verdict)},
           {"case", nullptr},
           {"level", nullptr},
           {"more", step_json(row.more)},
           {"less", step_json(row.less)},
           {"failing", row.failing}};
  if (row.verdict != SensitivityVerdict::not_changed) {
    out["case"] = case_id(row);
    out["level"] = kFidelityNames[static_cast<std::size_t>(row.level)];
  }
  if (!row.why.empty()) out["why"] = row.why;
  return out;
}

}  // namespace

std::string to_json(const std::vector<DeviceSensitivity>& devices) {
  Json cases = Json::array();
  for (const DeviceSensitivity& device : devices)
    for (const ParameterSensitivity* row : strongest_first(device))
      cases.push_back(row_json(device, *row));
  Json summary = Json::object();
  for (std::size_t i = 0; i < kSensitivityVerdictNames.size(); ++i) {
    std::string key(kSensitivityVerdictNames[i]);
    std::ranges::replace(key, ' ', '_');
    summary[key] = count_of(devices, static_cast<SensitivityVerdict>(i));
  }
  return Json{{"cases", std::move(cases)}, {"summary", std::move(summary)}}.dump() + '\n';
}

}  // namespace tiersim
