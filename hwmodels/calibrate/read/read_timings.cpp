#include "hwmodels/calibrate/read/read_timings.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/iso_date.hpp"
#include "hwmodels/calibrate/read/json_fields.hpp"
#include "hwmodels/calibrate/read/read_campaign.hpp"
#include "hwmodels/calibrate/read/read_csv.hpp"
#include "hwmodels/calibrate/read/read_google_benchmark.hpp"
#include "hwmodels/calibrate/read/read_nccl_tests.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"
#include "sim/base/text.hpp"
#include "sim/config/json_node.hpp"

namespace tiersim {
namespace {

// Reports a mistake of the file as a whole.
void fail(Diagnostics& diagnostics, const std::string& file, std::string message,
          std::string hint = {}) {
  Diagnostic mistake;
  mistake.where.file = file;
  mistake.message = std::move(message);
  mistake.hint = std::move(hint);
  diagnostics.report(std::move(mistake));
}

TimingSet read_json(const std::string& file, std::string_view text, const ReadOptions& options,
                    Diagnostics& diagnostics) {
  JsonDocument json;
  if (!parse_json(file, text, json, diagnostics)) return {};
  JsonFields document(json.root(), "", file, diagnostics);
  if (document.has("schema")) return read_campaign(document, diagnostics);
  if (document.has("context") && document.has("benchmarks")) {
    return read_google_benchmark(document, file, options, diagnostics);
  }
  document.fail("", "this JSON holds no timings",
                "wanted: the campaign's file (a 'schema') or Google Benchmark's ('context' and "
                "'benchmarks')");
  return {};
}

bool is_nccl_log(std::string_view text) {
  return std::ranges::any_of(lines_of(text), is_nccl_header);
}

// "nsys" or "nvbench" for a report of theirs, which names no sizes; empty for any other text.
std::string_view profiler_of(std::string_view text) {
  constexpr std::size_t kTalk = 50;  // lines before a header, at most
  const std::vector<std::string_view> lines = lines_of(text.substr(0, 100'000));
  for (const std::string_view line : std::span(lines).first(std::min(kTalk, lines.size()))) {
    const auto has = [&](std::string_view word) { return line.find(word) != line.npos; };
    if (has("GPU Time (sec)")) return "nvbench";
    if (has("Name") && (has("Duration (") || (has("Total Time (") && has("Instances"))))
      return "nsys";
  }
  return {};
}

// Takes a value from the options; it must equal that of the file where both state it.
void take_over(const char* what, const std::string& given, std::string& stated,
               const std::string& file, Diagnostics& diagnostics) {
  if (stated.empty()) stated = given;
  if (given.empty() || given == stated) return;
  fail(diagnostics, file,
       fmt::format("the {} of this file is '{}', but '{}' was given", what, stated, given));
}

// Message for a case whose amounts no device has, and that would overflow below; else empty.
std::optional<std::string> impossible(const TimingCase& timing) {
  constexpr double kMost = 1e18;       // bytes or FLOPs of a launch
  constexpr double kShortest = 1e-12;  // s
  constexpr double kLongest = 1e6;
  constexpr double kLargestTail = 1e6;
  const TimedWork& work = timing.work;
  for (const auto& [name, amount] :
       {std::pair{"memory_bytes", work.memory_bytes},
        std::pair{"link_read_bytes", work.link_read_bytes},
        std::pair{"link_write_bytes", work.link_write_bytes},
        std::pair{"requested_bytes", work.requested_bytes}, std::pair{"flops", work.flops},
        std::pair{"bytes_in_flight", timing.bytes_in_flight}}) {
    if (amount != 0 && !(amount >= 1 && amount <= kMost))
      return fmt::format("{} of {:g} is neither 0 nor from 1 to {:g}", name, amount, kMost);
  }
  for (const double seconds : {timing.seconds, timing.low, timing.high}) {
    const bool open = seconds == 0 && seconds != timing.seconds;  // reported below as an interval
    if (!open && !(seconds >= kShortest && seconds < kLongest))
      return fmt::format("{:g} s is no time from {:g} to {:g} s", seconds, kShortest, kLongest);
  }
  if (timing.tail >= 1 && timing.tail <= kLargestTail) return std::nullopt;
  return fmt::format("a tail of {:g} is not from 1 to {:g}", timing.tail, kLargestTail);
}

void refuse_impossible(TimingSet& set) {
  std::vector<TimingCase> cases = std::move(set.cases);
  set.cases.clear();
  for (TimingCase& timing : cases) {
    auto why = impossible(timing);
    if (why) set.refused.push_back({timing.where, timing.name, "out of range", std::move(*why)});
    if (!why) set.cases.push_back(std::move(timing));
  }
}

}  // namespace

void complete(TimingSet& set, const ReadOptions& options, Diagnostics& diagnostics) {
  if (!options.date.empty() && !parse_iso_date(options.date)) {
    fail(diagnostics, set.file, fmt::format("'{}' is no date", options.date),
         std::string(kIsoDateForm));
  }
  take_over("device", options.device, set.device, set.file, diagnostics);
  take_over("date", options.date, set.date, set.file, diagnostics);
  take_over("class", options.data_class, set.data_class, set.file, diagnostics);
  if (set.data_class.empty()) set.data_class = "reported";
  if (set.l2_bytes == 0) set.l2_bytes = options.l2_bytes;
  for (const TimingPeak& peak : options.peaks) {
    const bool known = std::ranges::any_of(set.peaks, [&](const TimingPeak& stated) {
      return stated.hard && stated.name == peak.name;
    });
    if (!known) set.peaks.push_back(peak);
  }
  static constexpr std::array<std::string_view, 4> kClasses{"measured", "reported", "synthetic",
                                                            "none"};
  if (std::ranges::find(kClasses, set.data_class) == kClasses.end()) {
    fail(diagnostics, set.file, fmt::format("'{}' is no class of timings", set.data_class),
         "measured, reported, synthetic or none");
  }
  if (set.data_class != "measured") return;
  if (set.device.empty() || set.date.empty()) {
    fail(diagnostics, set.file, "timings are measured only where the card and the date are named",
         "add them, or say 'reported'");
  }
  if (set.device == "emulator") {
    fail(diagnostics, set.file, "no card is called 'emulator', so nothing was measured");
  }
}

Expected<TimingSet, Diagnostics> read_timings(const std::string& file, std::string_view text,
                                              const ReadOptions& options) {
  Diagnostics diagnostics;
  TimingSet set;
  const std::size_t first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (first == std::string_view::npos) {
    fail(diagnostics, file, "this file is empty");
  } else if (text[first] == '{' || text[first] == '[') {
    set = read_json(file, text, options, diagnostics);
  } else if (is_nccl_log(text)) {
    set = read_nccl_tests(file, text, options, diagnostics);
  } else if (const std::string_view profiler = profiler_of(text); !profiler.empty()) {
    fail(diagnostics, file,
         fmt::format(
             "this is a report of {}, which names kernels and states neither sizes nor bytes",
             profiler),
         fmt::format("describe it in a file with 'format: {}' and use --table FILE", profiler));
  } else {
    set = read_csv(file, text, options, diagnostics);
  }
  if (!diagnostics.ok()) return Unexpected(std::move(diagnostics));
  set.file = file;
  refuse_impossible(set);
  complete(set, options, diagnostics);
  if (set.cases.empty() && set.refused.empty()) {
    fail(diagnostics, file, "no timing stands in this file");
  }
  if (!diagnostics.ok()) return Unexpected(std::move(diagnostics));
  return set;
}

}  // namespace tiersim
