// The rules of kernels/campaign/documents.hpp that a shape cannot state.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "kernels/campaign/documents.hpp"
#include "kernels/campaign/physics.hpp"
#include "kernels/campaign/record.hpp"
#include "kernels/campaign/statistics.hpp"

namespace tiersim::kernels::bench {
namespace {

using Problems = std::vector<std::string>;

bool is_name(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-/:") == std::string::npos;
}

constexpr double kRounding = 1e-9;  // for decimal digits and the order of sums

bool near(double a, double b) {
  return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

bool is_measured(const Json& context) {
  return context.at("class").text() == "measured";
}

bool holds_checks(const Json& context) {
  const std::string& stage = context.at("stage").text();
  return stage == "conformance" || stage == "correctness";
}

// Checks the values that only a card, its driver and its compiler can give.
void judge_device(const Json& context, Problems& problems) {
  const Json& device = context.at("device");
  const std::string& name = device.at("name").text();
  if (name.empty() || name == "emulator") {
    problems.push_back("context: no card is called '" + name + "'");
  }
  for (const char* member : {"driver", "runtime"}) {
    if (device.at(member).text().empty()) {
      problems.push_back(std::string("context: measured without a ") + member);
    }
  }
  if (context.at("build").at("nvcc").text().empty()) {
    problems.emplace_back("context: measured without an nvcc");
  }
  if (device.at("multiprocessors").integer() == 0) {
    problems.emplace_back("context: measured on a card of 0 multiprocessors");
  }
  if (device.at("pcie_width").integer() > 16) {
    problems.emplace_back("context: no PCIe link has more than 16 lanes");
  }
}

// The hard peaks of a measurement must be those of its device, not those in its file. For a part
// without a data sheet the memory peak is only in the file; the widest bus (8192 bit) bounds it.
void judge_peaks(const Json& context, Problems& problems) {
  constexpr double kWidestBusBytes = 1024;
  Peaks claimed;
  double memory = 0;
  for (Peak& peak : peaks_from_json(context.at("peaks"))) {
    if (!peak.hard) continue;
    if (peak.name == "memory") memory = peak.value;
    claimed.push_back(std::move(peak));
  }
  if (memory == 0) return;  // reported already
  const Json& device = context.at("device");
  const Peaks known = datasheet_peaks(device.at("name").text(),
                                      static_cast<int>(device.at("pcie_generation").integer()),
                                      static_cast<int>(device.at("pcie_width").integer()), memory);
  for (const Peak& peak : known) {
    const auto same = [&](const Peak& other) {
      return other.name == peak.name && other.number_class == peak.number_class &&
             near(other.value, peak.value);
    };
    if (std::none_of(claimed.begin(), claimed.end(), same)) {
      problems.push_back("context: the hard peak " + peak.name + " of this device is " +
                         Json(peak.value).dump() + "; the file does not say so");
    }
    const double most = 2e6 * device.at("memory_mhz_max").number() * kWidestBusBytes;
    if (peak.name == "memory" && peak.number_class == "assumed" && peak.value > most) {
      problems.emplace_back("context: no bus makes this memory peak of the memory clock");
    }
  }
  if (claimed.size() != known.size()) {
    problems.emplace_back("context: hard peaks that this device does not have, or one twice");
  }
}

// A dry run must never pass as a measurement, and a measurement must be complete.
void judge_class(const Json& context, bool measurements, Problems& problems) {
  const bool measured = is_measured(context);
  const bool card = context.at("device").at("kind").text() == "cuda";
  const bool timed = context.at("sizes").text() == "timed";
  if (measured && !card) problems.push_back("context: the emulator measures nothing: class none");
  if (measured && !timed) problems.push_back("context: toy sizes measure nothing: class none");
  if (measurements && !measured) problems.push_back("context: not a measurement (class none)");
  if (measured && card) judge_device(context, problems);
  if (holds_checks(context)) return;
  const Json::Array& peaks = context.at("peaks").array();
  const bool memory = std::any_of(peaks.begin(), peaks.end(), [](const Json& peak) {
    return peak.at("name").text() == "memory" && peak.at("hard").boolean();
  });
  if (!memory) problems.push_back("context: no hard peak of memory to hold the timings against");
  if (measured && card) judge_peaks(context, problems);
}

void judge_interval(const Json& interval, const std::string& where, Problems& problems) {
  const double median = interval.at("median_ns").number();
  if (interval.at("low_ns").number() > median || median > interval.at("high_ns").number()) {
    problems.push_back(where + ": the median is outside its interval");
  }
  static constexpr std::array<const char*, 9> kOrder = {"min", "p5",  "p25", "p50", "p75",
                                                        "p90", "p95", "p99", "max"};
  const Json& percentiles = interval.at("percentiles_ns");
  double before = 0;
  for (std::size_t i = 0; i < kOrder.size(); ++i) {
    const Json* value = percentiles.find(kOrder[i]);
    if (value == nullptr) {
      problems.push_back(where + ": percentile '" + kOrder[i] + "' is missing");
      return;
    }
    if (i > 0 && value->number() < before) {
      problems.push_back(where + ": percentile '" + kOrder[i] + "' is below the one before");
    }
    before = value->number();
  }
  if (!near(percentiles.at("p50").number(), median)) {
    problems.push_back(where + ": the median is not percentile 'p50'");
  }
  if (percentiles.object().size() != kOrder.size()) {
    problems.push_back(where + ": a percentile that nobody knows");
  }
}

struct Range {
  double low = 0;
  double high = 0;
};

// The range of the slope (or the intercept) of all rounds. Least squares weights the time of each
// node count, and the time of a round lies between the least and the largest seen.
Range range_of_rounds(const Json::Array& points, bool slope) {
  std::vector<double> nodes;
  for (const Json& point : points) nodes.push_back(point.at("nodes").number());
  Range range;
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<double> unit(points.size(), 0.0);
    unit[i] = 1;
    const Line line = fit_line(nodes, unit);
    const double weight = slope ? line.slope : line.intercept;
    const double least = weight * points[i].at("min_ns").number();
    const double most = weight * points[i].at("max_ns").number();
    range.low += std::min(least, most);
    range.high += std::max(least, most);
    sum += std::max(std::abs(least), std::abs(most));
  }
  return {range.low - kRounding * sum, range.high + kRounding * sum};
}

void judge_rounds(const Json& entry, const std::string& where, Problems& problems) {
  const Json::Array& points = entry.at("points").array();
  for (const Json& point : points) {
    const double median = point.at("median_ns").number();
    if (point.at("min_ns").number() > median || median > point.at("max_ns").number()) {
      problems.push_back(where + ": the median of a point is outside its range");
      return;
    }
  }
  for (const char* what : {"dependent_node", "launch"}) {
    const Range range = range_of_rounds(points, std::string("dependent_node") == what);
    const Json& interval = entry.at(what);
    const Json* percentiles = &interval.at("percentiles_ns");
    const auto outside = [&](const Json* value) {
      return value != nullptr && (value->number() < range.low || value->number() > range.high);
    };
    if (outside(interval.find("median_ns")) || outside(percentiles->find("min")) ||
        outside(percentiles->find("max"))) {
      problems.push_back(where + ": " + what + " does not follow from its points");
    }
  }
}

// Checks that an entry agrees with its name.
void judge_name(const Json& entry, Problems& problems) {
  const std::string& name = entry.at("name").text();
  const std::string run = entry.at("case").text() + "/" + entry.at("temperature").text();
  const std::int64_t process = entry.at("repetition_index").integer();
  if (name != run + "/process:" + std::to_string(process) || entry.at("run_name").text() != run) {
    problems.push_back(name + ": the name is not that of its case, temperature and process");
  }
  if (process >= entry.at("repetitions").integer()) {
    problems.push_back(name + ": more processes than there were");
  }
}

void judge_launches(const Json& entry, Problems& problems) {
  for (const Json& launch : entry.at("launches").array()) {
    if (launch.at("known").boolean()) continue;
    problems.push_back(entry.at("name").text() + ": measured, but no card knew its launch");
    return;
  }
}

void judge_points(const Json& entry, const std::string& where, Problems& problems) {
  const Json::Array& points = entry.at("points").array();
  if (points.size() < 2) problems.push_back(where + ": a slope takes two node counts");
  bool ascend = true;
  for (std::size_t i = 1; i < points.size(); ++i) {
    ascend = ascend && points[i].at("nodes").integer() > points[i - 1].at("nodes").integer();
  }
  if (!ascend) problems.push_back(where + ": node counts do not ascend");
  if (ascend && points.size() > 1) judge_rounds(entry, where, problems);
  if (entry.at("agreement").at("compared").integer() == 0) {
    problems.push_back(where + ": timed without having been compared with float64");
  }
}

void judge_agreement(const Json& entry, const std::string& where, Problems& impossible) {
  const Json& agreement = entry.at("agreement");
  const double error = agreement.at("error").number();
  const double tolerance = agreement.at("tolerance").number();
  if (error <= tolerance) return;
  impossible.push_back(where + ": error " + Json(error).dump() + " above the tolerance " +
                       Json(tolerance).dump());
}

// A sequence with several operand types is checked against the fastest of them.
void add_mixed(Peaks& peaks) {
  Peak best;
  for (const Peak& peak : peaks) {
    if (peak.hard && peak.name.starts_with("flops.") && peak.value > best.value) best = peak;
  }
  if (best.value == 0) return;
  best.name = "flops.mixed";
  peaks.push_back(best);
}

// Where the device's FLOP/s are known, they must be known for every operand type that computed.
void judge_dtype(const Json& entry, const Peaks& peaks, Problems& problems) {
  const Work work = work_from_json(entry.at("work"));
  if (std::max(work.flops, work.issued_flops) == 0) return;
  const std::string wanted = "flops." + entry.at("dtype").text();
  bool any = false;
  for (const Peak& peak : peaks) {
    if (!peak.hard || !peak.name.starts_with("flops.")) continue;
    if (peak.name == wanted) return;
    any = true;
  }
  if (any) problems.push_back(entry.at("name").text() + ": no hard peak of " + wanted);
}

void judge_entries(const Json& document, Verdict& verdict) {
  const std::string schema = document.at("schema").text();
  const Json& context = document.at("context");
  Peaks peaks = peaks_from_json(context.at("peaks"));
  add_mixed(peaks);
  std::set<std::string> names;
  std::map<std::string, bool> held;
  for (const Json& entry : document.at("benchmarks").array()) {
    const std::string& name = entry.at("name").text();
    if (!is_name(name)) verdict.malformed.push_back("'" + name + "': a name has other characters");
    if (!names.insert(name).second) verdict.malformed.push_back(name + ": stands twice");
    if (schema == kChecksSchema) {
      const bool agrees = entry.at("status").text() == "agrees";
      if (agrees) judge_agreement(entry, name, verdict.impossible);
      if (!agrees) verdict.impossible.push_back(name + ": disagrees");
      continue;
    }
    const bool timing = schema == kTimingsSchema;
    const Json& time = entry.at(timing ? "dependent_node" : "total");
    if (entry.at("real_time").number() != time.at("median_ns").number()) {
      verdict.malformed.push_back(name + ": real_time is not the median");
    }
    judge_interval(time, name, verdict.malformed);
    if (timing) {
      judge_interval(entry.at("launch"), name + ": launch", verdict.malformed);
      judge_points(entry, name, verdict.malformed);
      judge_agreement(entry, name, verdict.impossible);
      judge_name(entry, verdict.malformed);
      if (is_measured(context)) judge_launches(entry, verdict.malformed);
      const bool out = entry.at("held_out").boolean();
      if (held.emplace(entry.at("case").text(), out).first->second != out) {
        verdict.malformed.push_back(name + ": held out in one process and not in another");
      }
    }
    if (is_measured(context)) judge_dtype(entry, peaks, verdict.malformed);
    for (std::string& problem : violations(timed_of(entry), peaks)) {
      verdict.impossible.push_back(std::move(problem));
    }
  }
}

}  // namespace

Verdict judge(const Json& document, bool measurements) {
  Verdict verdict;
  const Json* schema = document.is_object() ? document.find("schema") : nullptr;
  if (schema == nullptr || !schema->is_string()) {
    verdict.malformed.emplace_back("no 'schema' that says what this is");
    return verdict;
  }
  try {
    verdict.malformed = mismatches(document, document_shape(schema->text()), "document");
  } catch (const std::invalid_argument& unknown) {
    verdict.malformed.emplace_back(unknown.what());
  }
  if (!verdict.malformed.empty()) return verdict;
  const Json& context = document.at("context");
  if (schema_of_stage(context.at("stage").text()) != schema->text()) {
    verdict.malformed.push_back("context: stage " + context.at("stage").text() +
                                " does not write " + schema->text());
    return verdict;
  }
  judge_class(context, measurements, verdict.malformed);
  if (is_measured(context) && document.at("benchmarks").array().empty()) {
    verdict.malformed.emplace_back("benchmarks: measured, but nothing is there");
  }
  judge_entries(document, verdict);
  return verdict;
}

}  // namespace tiersim::kernels::bench
