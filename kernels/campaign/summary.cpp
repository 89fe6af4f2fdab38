#include "kernels/campaign/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include "kernels/campaign/ceiling_peaks.hpp"
#include "kernels/campaign/documents.hpp"
#include "kernels/campaign/goals.hpp"
#include "kernels/campaign/record.hpp"
#include "kernels/campaign/stage_file.hpp"

namespace tiersim::kernels::bench {
namespace {

template <class... Values>
std::string format(const char* how, Values... values) {
  std::array<char, 512> line = {};
  std::snprintf(line.data(), line.size(), how, values...);
  return line.data();
}

// Medians of one case over the processes, cold or warm.
struct Row {
  Timed timed;  // seconds: the median over the processes
  std::vector<double> medians;
  bool baseline = false;
  bool held_out = false;
};

std::map<std::string, Row> rows_of(const Json& document) {
  std::map<std::string, Row> rows;
  for (const Json& entry : document.at("benchmarks").array()) {
    Row& row = rows[entry.at("run_name").text()];
    row.timed = timed_of(entry);
    row.medians.push_back(row.timed.seconds);
    row.baseline = entry.at("baseline").boolean();
    row.held_out = entry.at("held_out").boolean();
  }
  for (auto& named : rows) named.second.timed.seconds = percentile(named.second.medians, 0.5);
  return rows;
}

std::string header_of(const Json& document) {
  const Json& context = document.at("context");
  const Json& device = context.at("device");
  std::string text = context.at("stage").text() + ": " + device.at("name").text() + ", driver " +
                     device.at("driver").text() + ", commit " +
                     context.at("build").at("commit").text().substr(0, 12) + ", " +
                     context.at("date").text() + "\n";
  if (context.at("class").text() == "none") {
    text += "  a dry run: no time here is a measurement of anything\n";
  }
  return text;
}

std::string refusals_of(const Json& document) {
  std::string text;
  for (const Json& refused : document.at("refused").array()) {
    text += "  refused " + refused.at("name").text() + ": " + refused.at("reason").text() + "\n";
  }
  return text;
}

std::string checks_of(const Json& document) {
  std::size_t agree = 0;
  std::string text;
  for (const Json& entry : document.at("benchmarks").array()) {
    if (entry.at("status").text() == "agrees") {
      ++agree;
    } else {
      text += "  DISAGREES " + entry.at("name").text() + "\n";
    }
  }
  return format("  %zu of %zu agree\n", agree, document.at("benchmarks").array().size()) + text;
}

std::string timings_of(const Json& document, const Peaks& peaks) {
  std::string text = format("  %-64s %11s %11s %6s %6s %-11s %s\n", "case", "floor us", "median us",
                            "share", "noise", "bound", "H200 floor us: first / tuned");
  for (const auto& [name, row] : rows_of(document)) {
    const Floor floor = floor_of(row.timed, peaks);
    const auto [low, high] = std::minmax_element(row.medians.begin(), row.medians.end());
    const double noise = (*high - *low) / row.timed.seconds;
    const Goal* goal = goal_of(name);
    text += format("  %-64s %11.3f %11.3f %5.0f%% %5.1f%% %-11s %s%s%s\n", name.c_str(),
                   floor.seconds * 1e6, row.timed.seconds * 1e6,
                   100 * floor.seconds / row.timed.seconds, 100 * noise, floor.bound.c_str(),
                   goal == nullptr ? "" : (format("%.4g: ", goal->floor_us) + goal->shares).c_str(),
                   row.baseline ? " (baseline)" : "", row.held_out ? " (held out)" : "");
  }
  return text;
}

std::string ceilings_of(const Json& document) {
  std::string text;
  for (const Peak& peak : measured_ceilings(document)) {
    text += format("  %-11s %9.4g /s  (%s)\n", peak.name.c_str(), peak.value, peak.source.c_str());
  }
  return text;
}

std::string drift_of(const Json& before, const Json& after) {
  std::string text = "drift of the ceilings over the campaign\n";
  const Peaks first = measured_ceilings(before);
  for (const Peak& again : measured_ceilings(after)) {
    for (const Peak& peak : first) {
      if (peak.name != again.name) continue;
      text += format("  %-11s %+.2f %%\n", peak.name.c_str(), 100 * (again.value / peak.value - 1));
    }
  }
  return text;
}

// Errors of the predictions relative to the measurements.
std::string errors_of(const std::string& what, const std::vector<double>& errors) {
  if (errors.empty()) return "  " + what + ": none\n";
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  return format("  %-22s signed %+.1f %%, median %.1f %%, p90 %.1f %%, worst %.1f %% of %zu\n",
                what.c_str(), 100 * percentile(errors, 0.5), 100 * percentile(sizes, 0.5),
                100 * percentile(sizes, 0.9), 100 * percentile(sizes, 1), errors.size());
}

std::string composition_of(const Json& document) {
  std::string text;
  std::vector<double> predicted;
  std::vector<double> summed;
  std::vector<double> roofline;
  std::size_t covered = 0;
  for (const Json& entry : document.at("benchmarks").array()) {
    const double measured = entry.at("real_time").number();
    const auto error = [measured](const Json& said) { return said.number() / measured - 1; };
    text += format("  %-64s %12.3f us\n", entry.at("name").text().c_str(), measured * 1e-3);
    if (const Json* prediction = entry.find("prediction")) {
      predicted.push_back(error(prediction->at("median_ns")));
      const bool inside = prediction->at("low_ns").number() <= measured &&
                          measured <= prediction->at("high_ns").number();
      covered += inside ? 1U : 0U;
    }
    const Json& sum = entry.at("sum_of_medians_ns");
    if (sum.number() > 0) summed.push_back(error(sum));
    if (entry.at("roofline_ns").number() > 0) roofline.push_back(error(entry.at("roofline_ns")));
  }
  text += errors_of("predictions", predicted);
  if (!predicted.empty()) {
    text += format("  %zu of %zu inside their interval\n", covered, predicted.size());
  }
  return text + errors_of("sum of kernel medians", summed) +
         errors_of("data-sheet roofline", roofline);
}

}  // namespace

std::string summary(const std::filesystem::path& folder) {
  std::string text;
  const Json ceilings = read_stage(folder, "ceilings");
  for (const char* stage :
       {"conformance", "correctness", "ceilings", "timing", "ceilings_again", "composition"}) {
    const Json document = read_stage(folder, stage);
    if (document.is_null()) {
      text += std::string(stage) + ": has not run\n";
      continue;
    }
    text += header_of(document);
    const std::string schema = document.at("schema").text();
    if (schema == kChecksSchema) text += checks_of(document);
    if (schema == kTimingsSchema) {
      if (std::string(stage) != "timing") text += ceilings_of(document);
      text += timings_of(document, peaks_from_json(document.at("context").at("peaks")));
    }
    if (schema == kCompositionSchema) text += composition_of(document);
    if (std::string(stage) == "ceilings_again") text += drift_of(ceilings, document);
    text += refusals_of(document);
  }
  return text;
}

}  // namespace tiersim::kernels::bench
