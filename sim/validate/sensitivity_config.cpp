#include "sim/validate/sensitivity_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr std::array<std::string_view, 8> kFidelityMapDevices{
    "hbm", "pcie", "cxl", "module", "nvlink", "nvswitch", "direct", "nccl"};

const HardwareCurve* curve_of(const SensitivityConfig& c, const std::string& id) {
  for (const HardwareCurves& file : c.curves)
    for (const HardwareCurve& curve : file.curves)
      if (curve.facts.id == id) return &curve;
  return nullptr;
}

std::vector<std::string> devices_of(const HardwareCurve& curve) {
  std::vector<std::string> names;
  if (curve.memory) names.emplace_back("memory");
  for (std::size_t i = 0; i < curve.links.size(); ++i) names.push_back(fmt::format("links.{}", i));
  if (curve.requester) names.emplace_back("requester");
  if (curve.collective) names.emplace_back("collective");
  return names;
}

void check_curve_case(Fields& f, const SensitivityConfig& c, const SensitivityCase& each,
                      const std::string& path) {
  const HardwareCurve* curve = curve_of(c, each.curve);
  f.check(curve != nullptr, path + ".curve", "is in none of the curves", "its id");
  if (curve == nullptr) return;
  const std::vector<std::string> devices = devices_of(*curve);
  f.check(std::ranges::find(devices, each.at) != devices.end(), path + ".at",
          "is no device of this curve", join(devices));
  for (const std::int64_t point : each.points)
    f.check(point < std::ssize(curve->points), path + ".points",
            fmt::format("has {}, which the curve does not", point),
            fmt::format("0 to {}", curve->points.size() - 1));
}

void check_case(Fields& f, const SensitivityConfig& c, const SensitivityCase& each,
                const std::string& path) {
  f.check(each.curve.empty() != each.workload.empty(), path, "asks not one thing",
          "curve or workload");
  if (!each.curve.empty()) return check_curve_case(f, c, each, path);
  f.check(std::ranges::find(kFidelityMapDevices, each.at) != kFidelityMapDevices.end(),
          path + ".at", "is no device of the workloads",
          fmt::format("{}", fmt::join(kFidelityMapDevices, ", ")));
  f.check(each.points.empty(), path + ".points", "is of curves", "a workload has one answer");
}

}  // namespace

void describe(Fields& f, SensitivityCase& c) {
  f.doc("A case that a change of the device could show in.");
  f.optional("curve", c.curve, "Id of a reference curve.");
  f.optional("workload", c.workload, "Id of a workload of `validate levels`.");
  f.required("at", c.at, "Where the device is: memory, links.0, requester, collective; hbm, pcie.");
  f.optional("points", c.points, "Of the curve, from 0; all where absent.", in_range(0, 10'000));
  f.optional("levels", c.levels, kFidelityNames, "Flow and packet where absent.");
}

void describe(Fields& f, SensitiveDevice& c) {
  f.doc("A device whose numbers are changed.");
  f.required("name", c.name, "Name.");
  f.required("title", c.title, "Title, for readers.");
  f.required("cases", c.cases, "Questions asked of it.");
}

void describe(Fields& f, SensitivityReason& c) {
  f.doc("Reason why no case is sensitive to a number.");
  f.optional("device", c.device, "Name of the device; any where absent.");
  f.required("parameter", c.parameter, "Its path, or what the paths of several begin with.");
  f.required("why", c.why, "Half a sentence.");
}

void describe(Fields& f, SensitivityConfig& c) {
  f.doc("Cases that could catch a change of a device's numbers.");
  f.required("title", c.title, "Name of the hardware, for readers.");
  f.document("curves", c.curves, "hardware_curves", "Files of reference curves.");
  f.document("levels", c.levels, "fidelity_map", "Hardware of the workloads.");
  f.required("devices", c.devices, "Whose numbers are changed.");
  f.optional("reasons", c.reasons, "Reason why no case is sensitive to a number.");
  for (std::size_t d = 0; d < c.devices.size(); ++d) {
    f.check(!c.devices[d].cases.empty(), fmt::format("devices.{}.cases", d), "has none",
            "one at least");
    for (std::size_t i = 0; i < c.devices[d].cases.size(); ++i)
      check_case(f, c, c.devices[d].cases[i], fmt::format("devices.{}.cases.{}", d, i));
  }
}

}  // namespace tiersim
