#include "reports/hardware/point_label.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tiersim {
namespace {

std::string size_text(double bytes) {
  constexpr double kKibi = 1024;
  if (bytes < kKibi) return fmt::format("{:.0f} B", bytes);
  if (bytes < kKibi * kKibi) return fmt::format("{:.4g} KiB", bytes / kKibi);
  if (bytes < kKibi * kKibi * kKibi) return fmt::format("{:.4g} MiB", bytes / kKibi / kKibi);
  return fmt::format("{:.4g} GiB", bytes / kKibi / kKibi / kKibi);
}

}  // namespace

std::string axis_label(ProbeAxis axis) {
  constexpr std::array<std::string_view, 8> kLabels{
      "point", "run", "size", "offered GB/s", "read share", "items", "CPU GB/s", "ranks"};
  return std::string(kLabels[static_cast<std::size_t>(axis)]);
}

std::string axis_text(ProbeAxis axis, const ReferencePoint& point) {
  if (axis == ProbeAxis::none) return "-";
  if (axis == ProbeAxis::run || axis == ProbeAxis::size) return size_text(point.x(axis));
  return fmt::format("{:.6g}", point.x(axis));
}

std::string case_id(const CurveFacts& facts, const ReferencePoint& point) {
  if (facts.axis == ProbeAxis::none) return facts.id;
  std::string value = axis_text(facts.axis, point);
  std::erase(value, ' ');
  return facts.id + '.' + value;
}

}  // namespace tiersim
