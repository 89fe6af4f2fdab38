#include "hwmodels/calibrate/read/read_google_benchmark.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/google_benchmark_row.hpp"
#include "hwmodels/calibrate/read/iso_date.hpp"
#include "hwmodels/calibrate/read/order_statistics.hpp"
#include "hwmodels/calibrate/read/timing_repeats.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"

namespace tiersim {
namespace {

using detail::GoogleRow;

// All rows of one run_name.
struct Run {
  std::optional<TimingCase> timing;  // from its first repetition, else from an aggregate
  bool from_aggregate = false;
  std::vector<double> seconds;
  double low = 0;
  double high = 0;
  std::int64_t repetitions = 1;
  std::map<std::string, double> aggregates;
};

// Aggregates are printed with 17 digits, but the library sums in another order.
constexpr double kRounding = 1e-6;

// Old versions of the library wrote the local time without its zone: only the day is used.
std::string date_of(JsonFields& context, TimingSet& set) {
  constexpr std::size_t kDay = 10;
  std::string date = context.text("date");
  if (parse_iso_date(date)) return date;
  std::string day = date.substr(0, kDay);
  std::ranges::replace(day, '/', '-');
  if (date.size() > kDay && date[kDay] == ' ' && parse_iso_date(day)) {
    set.notes.push_back(
        fmt::format("{}: the date '{}' has no zone: its day is taken", set.file, date));
    return day;
  }
  context.fail("date", fmt::format("'{}' is no date", date), std::string(kIsoDateForm));
  return date;
}

void read_context(JsonFields context, TimingSet& set) {
  constexpr std::string_view kPeak = "peak.";
  const std::vector<std::string> all = context.rest();
  for (const std::string& key : all) {
    if (key == "date") {
      set.date = date_of(context, set);
    } else if (key == "device") {
      set.device = context.text(key);
    } else if (key == "class") {
      set.data_class = context.text(key);
    } else if (key == "build") {
      set.build_id = context.text(key);
    } else if (key == "l2_bytes") {
      const auto size = parse_cache_size(context.text(key));
      if (size) set.l2_bytes = *size;
      if (!size) context.fail(key, size.error());
    } else if (key.starts_with(kPeak)) {
      const std::string name = key.substr(kPeak.size());
      const auto value = parse_peak(name, context.text(key));
      if (!value) context.fail(key, value.error());
      if (value) {
        set.peaks.push_back({name, *value, true, NumberClass::assumed, set.file + ": " + key});
      }
    } else if (key == "library_build_type" && context.text(key) == "debug") {
      set.notes.push_back(set.file + ": the benchmark library was a debug build");
    }
  }
}

void add(const GoogleRow& row, Run& run) {
  run.repetitions = std::max(run.repetitions, row.repetitions);
  if (!row.aggregate.empty()) {
    run.aggregates[row.aggregate] = row.real;
    const bool says_work = row.aggregate == "median" || row.aggregate == "mean";
    if (!run.timing && says_work) {
      run.timing = row.timing;
      run.from_aggregate = true;
    }
    return;
  }
  run.seconds.push_back(row.real);
  if (!run.timing || run.from_aggregate) run.timing = row.timing;
  run.from_aggregate = false;
  run.low = row.low;
  run.high = row.high;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Checks the aggregates against the repetitions, where the file has both.
void compare(const Run& run, TimingSet& set) {
  const auto check = [&](const char* name, double expected) {
    const auto found = run.aggregates.find(name);
    if (found == run.aggregates.end()) return;
    if (std::abs(found->second - expected) <= kRounding * expected) return;
    set.refused.push_back({run.timing->where, run.timing->name, "contradicts itself",
                           fmt::format("its _{} row says {:.6g} s, its {} repetitions {:.6g} s",
                                       name, found->second, run.seconds.size(), expected)});
  };
  check("mean", mean_of(run.seconds));
  check("median", median_of(run.seconds));
}

// The time of a run whose file has aggregates only.
std::optional<TimingRepeat> from_aggregates(const Run& run) {
  const auto value = [&](const char* name) -> std::optional<double> {
    const auto found = run.aggregates.find(name);
    if (found == run.aggregates.end()) return std::nullopt;
    return found->second;
  };
  const std::optional<double> middle = value("median") ? value("median") : value("mean");
  if (!middle) return std::nullopt;
  double spread = value("stddev").value_or(0);
  if (spread == 0 && value("cv")) spread = *value("cv") * *middle;
  const double error = 1.96 * 1.2533 * spread /
                       std::sqrt(static_cast<double>(std::max<std::int64_t>(run.repetitions, 1)));
  return TimingRepeat{*middle, std::max(*middle - error, 0.0), *middle + error};
}

void add_case(Run& run, TimingSet& set) {
  if (!run.timing) return;
  TimingRepeat repeat;
  if (run.seconds.empty()) {
    const std::optional<TimingRepeat> found = from_aggregates(run);
    if (!found) return;
    repeat = *found;
  } else {
    repeat = order_interval(run.seconds);
    const bool stated = run.seconds.size() == 1 && run.low > 0 && run.high > 0;
    if (stated) repeat = {repeat.median, run.low, run.high};
    const std::size_t before = set.refused.size();
    compare(run, set);
    if (set.refused.size() > before) return;
  }
  auto refusal = merge_repeats({repeat}, *run.timing);
  if (refusal) set.refused.push_back(std::move(*refusal));
  if (!refusal) set.cases.push_back(std::move(*run.timing));
}

}  // namespace

TimingSet read_google_benchmark(JsonFields& document, const std::string& file,
                                const ReadOptions& options, Diagnostics& diagnostics) {
  TimingSet set;
  set.file = file;
  set.format = "google_benchmark";
  read_context(document.object("context"), set);
  std::vector<std::string> order;
  std::map<std::string, Run> runs;
  for (JsonFields& fields : document.list("benchmarks")) {
    const GoogleRow row = detail::read_google_row(fields, options, set.notes);
    if (row.failed) continue;
    const auto [found, first] = runs.try_emplace(row.run);
    if (first) order.push_back(row.run);
    add(row, found->second);
  }
  document.finish();
  if (!diagnostics.ok()) return {};
  for (const std::string& name : order) {
    add_case(runs.at(name), set);
    if (!runs.at(name).timing) {
      set.notes.push_back(fmt::format("{}: '{}' has neither repetitions nor a median", file, name));
    }
  }
  set.notes.push_back(file + ": Google Benchmark states no temperature but by name: cold is taken");
  return set;
}

}  // namespace tiersim
