#include "hwmodels/calibrate/read/google_benchmark_row.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_text.hpp"
#include "sim/base/text.hpp"

namespace tiersim::detail {
namespace {

struct WorkCounter {
  const char* name;
  double TimedWork::*member;
};
constexpr std::array<WorkCounter, 5> kWorkCounters{{
    {"memory_bytes", &TimedWork::memory_bytes},
    {"link_read_bytes", &TimedWork::link_read_bytes},
    {"link_write_bytes", &TimedWork::link_write_bytes},
    {"requested_bytes", &TimedWork::requested_bytes},
    {"flops", &TimedWork::flops},
}};
constexpr std::string_view kRate = "_per_second";
// Members that the library writes beside the counters, and that are not used here.
constexpr std::array<std::string_view, 12> kLibrarys{"family_index",   "per_family_instance_index",
                                                     "run_type",       "repetition_index",
                                                     "threads",        "iterations",
                                                     "aggregate_name", "aggregate_unit",
                                                     "label",          "error_message",
                                                     "skip_message",   "cpu_time"};
constexpr std::array<std::string_view, 6> kNameOptions{
    "iterations", "repeats", "threads", "min_time", "min_warmup_time", "warmup_time"};

// "rows:64" and "4096" in a name become sizes; "manual_time" and the like are no shape.
void read_name(const std::string& run, TimingCase& timing) {
  std::string_view rest = run;
  const std::size_t end = std::min(rest.find('/'), rest.size());
  timing.kernel = rest.substr(0, end);
  int unnamed = 0;
  while (rest.find('/') != std::string_view::npos) {
    rest.remove_prefix(rest.find('/') + 1);
    const std::string_view part = rest.substr(0, rest.find('/'));
    const std::size_t colon = part.find(':');
    const std::string_view key = part.substr(0, std::min(colon, part.size()));
    const auto size = parse_number(colon == std::string_view::npos ? part : part.substr(colon + 1));
    if (key == "warm") timing.temperature = Temperature::warm;
    if (!size || *size < 0 || *size > 9e15) continue;
    if (std::ranges::find(kNameOptions, key) != kNameOptions.end()) continue;
    const std::string name =
        colon == std::string_view::npos ? fmt::format("arg{}", unnamed++) : std::string(key);
    timing.shape[name] = static_cast<std::int64_t>(*size);
  }
  const std::size_t open = timing.kernel.find('<');
  if (open == std::string::npos || !timing.kernel.ends_with('>')) return;
  timing.variant = timing.kernel.substr(open + 1, timing.kernel.size() - open - 2);
  timing.kernel.resize(open);
}

bool over_real_time(const std::string& run) {
  return run.find("/real_time") != std::string::npos ||
         run.find("/manual_time") != std::string::npos;
}

class Counters {
 public:
  Counters(JsonFields& row, GoogleRow& out, double rate_seconds)
      : row_(row), out_(out), rate_seconds_(rate_seconds) {}

  // Reads counter `key`; false where the name is not known.
  bool take(const std::string& key) {
    return take_work(key) || take_rate(key) || take_time(key) || take_other(key);
  }

  static std::vector<std::string> known() {
    std::vector<std::string> out{"tail",   "bytes_in_flight", "baseline",        "bytes_per_second",
                                 "low_us", "high_us",         "items_per_second"};
    for (const WorkCounter& counter : kWorkCounters) out.emplace_back(counter.name);
    return out;
  }

 private:
  bool take_work(const std::string& key) {
    for (const WorkCounter& counter : kWorkCounters) {
      if (key != counter.name) continue;
      out_.timing.work.*counter.member = row_.number(key, 0);
      out_.timing.places.insert_or_assign(std::string(counter.name), row_.place(key));
      return true;
    }
    return false;
  }
  bool take_rate(const std::string& key) {
    if (!key.ends_with(kRate)) return false;
    const double amount = row_.number(key, 0) * rate_seconds_;
    if (key == "items_per_second") {
      out_.timing.shape["items"] = std::llround(amount);
      return true;
    }
    const std::string_view stem = std::string_view(key).substr(0, key.size() - kRate.size());
    for (const WorkCounter& counter : kWorkCounters) {
      if (stem != counter.name && !(stem == "bytes" && counter.name == kWorkCounters[0].name)) {
        continue;
      }
      out_.timing.work.*counter.member = amount;
      out_.timing.places.insert_or_assign(std::string(counter.name), row_.place(key));
      return true;
    }
    return false;
  }
  bool take_time(const std::string& key) {
    const bool low = key.starts_with("low_");
    if (!low && !key.starts_with("high_")) return false;
    const auto unit = seconds_in(std::string_view(key).substr(low ? 4 : 5));
    if (!unit) return false;
    (low ? out_.low : out_.high) = row_.number(key, 0) * *unit;
    return true;
  }
  bool take_other(const std::string& key) {
    constexpr std::string_view kShape = "shape.";
    if (key == "tail") {
      out_.timing.tail = row_.number(key, 1);
    } else if (key == "bytes_in_flight") {
      out_.timing.bytes_in_flight = row_.number(key, 0);
    } else if (key == "baseline") {
      out_.timing.baseline = row_.number(key, 0) != 0;
    } else if (key.starts_with(kShape)) {
      out_.timing.shape[key.substr(kShape.size())] = std::llround(row_.number(key, 0));
    } else {
      return false;
    }
    return true;
  }

  JsonFields& row_;
  GoogleRow& out_;
  double rate_seconds_;
};

// Name of the row's aggregate: by run_type and aggregate_name, or in older files by the suffix of
// its name; empty for a repetition.
std::string aggregate_of(JsonFields& row, const std::string& name, const std::string& run) {
  if (row.has("run_type") && row.choice("run_type", {"iteration", "aggregate"}) != "aggregate") {
    return {};
  }
  if (row.has("aggregate_name")) return row.text("aggregate_name");
  if (name.size() > run.size() + 1 && name.starts_with(run) && name[run.size()] == '_') {
    return name.substr(run.size() + 1);
  }
  return {};
}

void read_times(JsonFields& row, GoogleRow& out, double& cpu) {
  const bool fraction = out.aggregate == "cv";
  const auto unit = seconds_in(row.choice("time_unit", {"ns", "us", "ms", "s"}));
  const double scale = fraction ? 1 : unit.value_or(0);
  out.real = row.number("real_time", 0) * scale;
  cpu = row.number("cpu_time", 0) * scale;
  const bool dispersion = fraction || out.aggregate == "stddev";
  if (!dispersion && !(out.real > 0)) row.fail("real_time", "a time must be above 0");
}

}  // namespace

GoogleRow read_google_row(JsonFields& row, const ReadOptions& options,
                          std::vector<std::string>& notes) {
  GoogleRow out;
  const std::string name = row.text("name");
  out.timing.where = row.place();
  const bool error = row.has("error_occurred") && row.flag("error_occurred");
  const bool skipped = row.has("skipped");
  if (error || skipped) {
    const char* key = error ? "error_message" : "skip_message";
    const std::string why = row.has(key) ? row.text(key) : std::string("no reason given");
    notes.push_back(fmt::format("{}: '{}' has no result: {}", out.timing.where, name, why));
    row.rest();
    out.failed = true;
    return out;
  }
  out.run = row.has("run_name") ? row.text("run_name") : name;
  out.aggregate = aggregate_of(row, name, out.run);
  out.repetitions = row.has("repetitions") ? row.whole("repetitions", 0) : 1;
  out.timing.name = out.run;
  read_name(out.run, out.timing);
  double cpu = 0;
  read_times(row, out, cpu);
  if (row.has("label")) {
    const std::string label = row.text("label");
    if (label == "warm") out.timing.temperature = Temperature::warm;
    if (label != "warm" && label != "cold") {
      notes.push_back(fmt::format("{}: label '{}' is left out", out.timing.where, label));
    }
  }
  Counters counters(row, out, over_real_time(out.run) ? out.real : cpu);
  for (const std::string& key : row.rest()) {
    if (std::ranges::find(kLibrarys, key) != kLibrarys.end()) continue;
    const bool counts =
        out.aggregate.empty() || out.aggregate == "median" || out.aggregate == "mean";
    if (!counts || counters.take(key)) continue;
    if (key.starts_with("note.") ||
        std::ranges::find(options.context, key) != options.context.end()) {
      notes.push_back(
          fmt::format("{}: counter '{}' is left out, as context", out.timing.where, key));
      continue;
    }
    const std::vector<std::string> known = Counters::known();
    const std::string_view near = nearest(key, known);
    row.fail(key, fmt::format("counter '{}' is neither work nor shape", key),
             near.empty()
                 ? fmt::format("name it as context, or call it note.{} or shape.{}", key, key)
                 : fmt::format("did you mean '{}'?", near));
  }
  return out;
}

}  // namespace tiersim::detail
