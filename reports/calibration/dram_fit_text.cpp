#include "reports/calibration/dram_fit_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/units_text.hpp"

namespace tiersim {
namespace {

std::string share_text(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

// In tenths of a nanosecond, which is below what the packets tell apart.
std::string tenths(Duration time) {
  return fmt::format("{:.1f} ns", to_seconds(time) * 1e9);
}

std::string efficiency_line(const char* key, double value, const std::string& tail) {
  return fmt::format("{}: {{value: {:.3f}, {}}}\n", key, value, tail);
}

}  // namespace

Table dram_fit_table(const DramFit& fit, NumberClass number_class) {
  Table out{.title = "Loaded latency by the packet level",
            .columns = {{"run", Align::left}, {"reads", Align::right}, {"reaches", Align::right}}};
  for (const double load : fit.loads) out.columns.push_back({share_text(load), Align::right});
  for (const DramLatencyCurve& curve : fit.curves) {
    Row row{format_quantity(curve.run), share_text(curve.read_share), share_text(curve.reaches)};
    for (const Duration added : curve.added) row.push_back(Cell(to_seconds(added), tenths(added)));
    out.add(std::move(row));
  }
  out.notes.emplace_back(
      "a latency is added to the unloaded one; its column gives the load as a share of the "
      "bandwidth under 'reaches', which is a share of peak; the longest run stands for streams");
  out.notes.push_back(fmt::format("read_efficiency is {}, write_efficiency {} and row_time {}",
                                  share_text(fit.read_efficiency), share_text(fit.write_efficiency),
                                  tenths(fit.row_time)));
  out.notes.push_back(
      fmt::format("class of all numbers: {}, the weakest class of the packet-level numbers",
                  name(number_class)));
  return out;
}

std::string dram_fit_json(const DramFit& fit, NumberClass number_class) {
  nlohmann::ordered_json curves = nlohmann::ordered_json::array();
  for (const DramLatencyCurve& curve : fit.curves) {
    nlohmann::ordered_json added = nlohmann::ordered_json::array();
    for (const Duration each : curve.added) added.push_back(to_seconds(each));
    curves.push_back({{"run_bytes", curve.run.in_base()},
                      {"read_share", curve.read_share},
                      {"reaches", curve.reaches},
                      {"added_s", std::move(added)}});
  }
  return nlohmann::ordered_json{{"class", name(number_class)},
                                {"read_efficiency", fit.read_efficiency},
                                {"write_efficiency", fit.write_efficiency},
                                {"row_time_s", to_seconds(fit.row_time)},
                                {"loads", fit.loads},
                                {"curves", std::move(curves)}}
             .dump(2) +
         "\n";
}

std::string dram_fit_yaml(const DramFit& fit, const std::string& command, NumberClass number_class,
                          const std::string& source) {
  const std::string tail = fmt::format("class: {}, source: \"{}\"", name(number_class), source);
  std::string out =
      fmt::format("# Written by `{}`. Do not edit.\nschema: tiersim.device/v1\n", command);
  out += efficiency_line("read_efficiency", fit.read_efficiency, tail);
  out += efficiency_line("write_efficiency", fit.write_efficiency, tail);
  out += fmt::format("row_time: {{value: {}, {}}}\n", tenths(fit.row_time), tail);
  out += fmt::format(
      "queueing:\n  packets:\n    scale: {{value: 1, {}}}\n    loads: [{:g}]\n    curves:\n", tail,
      fmt::join(fit.loads, ", "));
  for (const DramLatencyCurve& curve : fit.curves) {
    std::string added;
    for (const Duration each : curve.added) added += (added.empty() ? "" : ", ") + tenths(each);
    out += fmt::format("      - {{run: {}, read_share: {:g}, reaches: {:.3f}, added: [{}]}}\n",
                       format_quantity(curve.run), curve.read_share, curve.reaches, added);
  }
  return out;
}

}  // namespace tiersim
