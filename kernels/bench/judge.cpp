// The rules of kernels/bench/documents.hpp that a shape cannot say.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "kernels/bench/documents.hpp"
#include "kernels/bench/physics.hpp"
#include "kernels/bench/record.hpp"

namespace tiersim::kernels::bench {
namespace {

using Problems = std::vector<std::string>;

bool is_name(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-/:") == std::string::npos;
}

// A dry run can never pass for a measurement, nor a measurement lack what makes it one.
void judge_class(const Json& context, bool measurements, Problems& problems) {
  const bool measured = context.at("class").text() == "measured";
  const bool card = context.at("device").at("kind").text() == "cuda";
  const bool timed = context.at("sizes").text() == "timed";
  if (measured && !card) problems.push_back("context: the emulator measures nothing: class none");
  if (measured && !timed) problems.push_back("context: toy sizes measure nothing: class none");
  if (measurements && !measured) problems.push_back("context: not a measurement (class none)");
  const std::string stage = context.at("stage").text();
  if (stage == "conformance" || stage == "correctness") return;
  const Json::Array& peaks = context.at("peaks").array();
  const bool memory = std::any_of(peaks.begin(), peaks.end(), [](const Json& peak) {
    return peak.at("name").text() == "memory" && peak.at("hard").boolean();
  });
  if (!memory) problems.push_back("context: no hard peak of memory to hold the timings against");
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
  if (percentiles.object().size() != kOrder.size()) {
    problems.push_back(where + ": a percentile that nobody knows");
  }
}

void judge_points(const Json& entry, const std::string& where, Problems& problems) {
  const Json::Array& points = entry.at("points").array();
  if (points.size() < 2) problems.push_back(where + ": a slope takes two node counts");
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].at("nodes").integer() <= points[i - 1].at("nodes").integer()) {
      problems.push_back(where + ": node counts do not ascend");
    }
  }
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

void judge_entries(const Json& document, Verdict& verdict) {
  const std::string schema = document.at("schema").text();
  const Peaks peaks = peaks_from_json(document.at("context").at("peaks"));
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
      const bool out = entry.at("held_out").boolean();
      if (held.emplace(entry.at("case").text(), out).first->second != out) {
        verdict.malformed.push_back(name + ": held out in one process and not in another");
      }
    }
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
  judge_entries(document, verdict);
  return verdict;
}

}  // namespace tiersim::kernels::bench
