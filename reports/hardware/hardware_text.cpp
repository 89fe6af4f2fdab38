#include "reports/hardware/hardware_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/hardware/point_label.hpp"

namespace tiersim {
namespace {

std::string share(double value) {
  return fmt::format("{:.1f} %", 100 * value);
}
std::string signed_share(double value) {
  return fmt::format("{:+.1f} %", 100 * value);
}

const LevelResult& reading_of(const PointReading& point, Fidelity level) {
  return point.readings[static_cast<std::size_t>(level)];
}

std::string reference_text(const ReferencePoint& point) {
  if (!point.other) return fmt::format("{:.4g}", point.value);
  return fmt::format("{:.4g} to {:.4g}", point.low(), point.high());
}

bool counts(ProbeStatus status) {
  return status != ProbeStatus::none && status != ProbeStatus::not_held;
}

// "memory 5 %" and so on: the bands of the levels that the curve checks.
std::string held_text(const CurveFacts& facts) {
  std::string out;
  for (const Fidelity level : facts.held)
    out += (out.empty() ? "" : ", ") + std::string(name(level));
  return out.empty() ? "nothing held" : fmt::format("{} within {}", out, share(facts.band));
}

}  // namespace

HardwareCounts counts_of(const std::vector<CurveReading>& curves, Fidelity level) {
  HardwareCounts out;
  std::vector<double> errors;
  for (const CurveReading& curve : curves)
    for (const PointReading& point : curve.points) {
      const ProbeStatus status = curve.status(point, level);
      if (!counts(status)) continue;
      errors.push_back(std::abs(point.point.error_of(*reading_of(point, level).value)));
      ++(status == ProbeStatus::within  ? out.within
         : status == ProbeStatus::known ? out.known
                                        : out.outside);
    }
  if (errors.empty()) return out;
  std::sort(errors.begin(), errors.end());
  out.median = errors[(errors.size() - 1) / 2];
  out.worst = errors.back();
  return out;
}

std::int64_t unexpected(const std::vector<CurveReading>& curves) {
  std::int64_t count = 0;
  for (const Fidelity level : kFidelities) count += counts_of(curves, level).outside;
  return count;
}

Table curve_table(const CurveReading& curve) {
  const std::string unit(unit_of(curve.facts.quantity));
  Table table{.title = curve.facts.title,
              .columns = {{axis_label(curve.facts.axis), Align::right},
                          {unit.empty() ? "reference" : "reference " + unit, Align::right}}};
  for (const Fidelity level : kFidelities) {
    table.columns.push_back({std::string(name(level)), Align::right});
    table.columns.push_back({"error", Align::right});
  }
  table.columns.push_back({"band", Align::left});
  for (const PointReading& point : curve.points) {
    std::vector<std::string> row{axis_text(curve.facts.axis, point.point),
                                 reference_text(point.point)};
    std::string verdict;
    bool any = false;
    for (const Fidelity level : kFidelities) {
      const LevelResult& reading = reading_of(point, level);
      row.push_back(reading.value ? fmt::format("{:.4g}", *reading.value) : "-");
      row.push_back(reading.value ? signed_share(point.point.error_of(*reading.value)) : "-");
      const ProbeStatus status = curve.status(point, level);
      any = any || counts(status);
      if (!counts(status) || status == ProbeStatus::within) continue;
      verdict += fmt::format("{}{} {}", verdict.empty() ? "" : ", ", name(level),
                             status == ProbeStatus::known ? "outside (known)" : name(status));
    }
    row.push_back(!verdict.empty() ? verdict : any ? "within" : "-");
    table.add(std::move(row));
  }
  const auto kind = static_cast<std::size_t>(curve.facts.kind);
  table.notes.push_back(
      fmt::format("{}: {}; {}", curve.facts.id, held_text(curve.facts), kReferenceKindNames[kind]));
  table.notes.push_back("source: " + curve.facts.source);
  if (!curve.facts.note.empty()) table.notes.push_back(curve.facts.note);
  for (const Fidelity level : kFidelities) {
    std::vector<std::string> said;
    for (const PointReading& point : curve.points) {
      const std::string& known = point.point.known[static_cast<std::size_t>(level)];
      const LevelResult& reading = reading_of(point, level);
      const std::string& why = reading.value ? known : reading.why_none;
      if (why.empty() || std::ranges::find(said, why) != said.end()) continue;
      said.push_back(why);
      table.notes.push_back(fmt::format("{}: {}", name(level), why));
    }
  }
  return table;
}

Table overview_table(const std::vector<CurveReading>& curves) {
  Table table{
      .title = "Hardware models beside reference curves",
      .columns = {{"curve", Align::left}, {"points", Align::right}, {"band", Align::right}}};
  for (const Fidelity level : kFidelities) {
    table.columns.push_back({std::string(name(level)) + ": within", Align::right});
    table.columns.push_back({"median", Align::right});
    table.columns.push_back({"worst", Align::right});
  }
  const auto add = [&](const std::string& name, const std::vector<CurveReading>& of,
                       const std::string& band) {
    std::size_t points = 0;
    for (const CurveReading& curve : of) points += curve.points.size();
    std::vector<std::string> row{name, std::to_string(points), band};
    for (const Fidelity level : kFidelities) {
      const HardwareCounts c = counts_of(of, level);
      const std::int64_t all = c.within + c.known + c.outside;
      row.push_back(all == 0 ? "-" : fmt::format("{} of {}", c.within, all));
      row.push_back(all == 0 ? "-" : share(c.median));
      row.push_back(all == 0 ? "-" : share(c.worst));
    }
    table.add(std::move(row));
  };
  for (const CurveReading& curve : curves) add(curve.facts.id, {curve}, share(curve.facts.band));
  add("all", curves, "");
  table.notes.emplace_back(
      "analytic: reads and writes take what each takes alone, so that together they may be above "
      "the "
      "peak of a bus that they share");
  std::int64_t known = 0;
  for (const Fidelity level : kFidelities) known += counts_of(curves, level).known;
  table.notes.push_back(
      fmt::format("{} answers are outside of their band for a reason that is known and stands with "
                  "their curve; "
                  "{} are outside unexpectedly",
                  known, unexpected(curves)));
  return table;
}

std::string to_text(const std::vector<CurveReading>& curves) {
  std::string out = to_text(overview_table(curves));
  for (const CurveReading& curve : curves) out += '\n' + to_text(curve_table(curve));
  return out;
}

}  // namespace tiersim
