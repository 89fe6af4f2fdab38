#include "hwmodels/calibrate/read/read_csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hwmodels/calibrate/read/csv_table.hpp"
#include "hwmodels/calibrate/read/iso_date.hpp"
#include "hwmodels/calibrate/read/timing_repeats.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using detail::CsvCell;
using detail::CsvRow;
using detail::CsvSetting;
using detail::CsvTable;

constexpr std::string_view kShape = "shape.";
const auto kSizes = std::to_array<std::pair<std::string_view, double TimedWork::*>>(
    {{"memory_bytes", &TimedWork::memory_bytes},
     {"link_read_bytes", &TimedWork::link_read_bytes},
     {"link_write_bytes", &TimedWork::link_write_bytes},
     {"requested_bytes", &TimedWork::requested_bytes}});
constexpr std::array<std::string_view, 3> kTimes{"time", "low", "high"};
constexpr std::array<std::string_view, 10> kOthers{
    "name",     "kernel",          "variant", "dtype", "temperature",
    "baseline", "bytes_in_flight", "flops",   "tail",  "waves"};

// "time_us" holds times in us; cells of "time" state their own unit.
struct TimeColumn {
  std::string_view what;
  std::optional<double> unit;  // s
};
std::optional<TimeColumn> time_column(std::string_view name) {
  for (const std::string_view what : kTimes) {
    if (name == what) return TimeColumn{what, std::nullopt};
    if (!name.starts_with(what) || name.size() <= what.size() || name[what.size()] != '_') continue;
    const auto unit = seconds_in(name.substr(what.size() + 1));
    if (unit) return TimeColumn{what, unit};
  }
  return std::nullopt;
}

bool is_column(std::string_view name) {
  if (time_column(name) || name == "process" || name == "blocks") return true;
  if (name.starts_with(kShape) && name.size() > kShape.size()) return true;
  if (std::ranges::find(kOthers, name) != kOthers.end()) return true;
  return std::ranges::any_of(kSizes, [&](const auto& size) { return size.first == name; });
}

class Reader {
 public:
  Reader(const std::string& file, const CsvTable& table, const ReadOptions& options,
         Diagnostics& diagnostics)
      : file_(file), table_(table), options_(options), diagnostics_(diagnostics) {
    set_.file = file;
    set_.format = "csv";
  }

  TimingSet read() {
    std::set<std::string> settings;
    for (const CsvSetting& setting : table_.settings) {
      read_setting(setting);
      const bool again = setting.key.starts_with("family.");  // a family may have several kernels
      if (settings.insert(setting.key).second || again) continue;
      fail(setting.line, 1, fmt::format("setting '{}' stands twice", setting.key));
    }
    if (!check_header()) return {};
    for (const CsvRow& row : table_.rows) read_row(row);
    check_families();
    if (!diagnostics_.ok()) return {};
    std::vector<TimingCase> cases = std::move(set_.cases);
    set_.cases.clear();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      auto refusal = merge_repeats(repeats_[i], cases[i]);
      if (refusal) set_.refused.push_back(std::move(*refusal));
      if (!refusal) set_.cases.push_back(std::move(cases[i]));
    }
    return std::move(set_);
  }

 private:
  void fail(int line, int column, std::string message, std::string hint = {}) {
    diagnostics_.report({{file_, line, column}, std::move(message), std::move(hint)});
  }

  void read_setting(const CsvSetting& setting) {
    constexpr std::string_view kPeak = "peak.";
    constexpr std::string_view kFamily = "family.";
    const auto& [line, key, value] = setting;
    if (key == "device") {
      set_.device = value;
    } else if (key == "date") {
      set_.date = value;
      if (!parse_iso_date(value))
        fail(line, 1, fmt::format("'{}' is no date", value), std::string(kIsoDateForm));
    } else if (key == "class") {
      set_.data_class = value;
    } else if (key == "build") {
      set_.build_id = value;
    } else if (key == "l2") {
      const auto size = parse_cache_size(value);
      if (size) set_.l2_bytes = *size;
      if (!size) fail(line, 1, size.error());
    } else if (key.starts_with(kFamily)) {
      read_family(line, key.substr(kFamily.size()), value);
    } else if (key.starts_with(kPeak)) {
      const std::string name = key.substr(kPeak.size());
      const auto rate = parse_peak(name, value);
      if (!rate) return fail(line, 1, rate.error());
      set_.peaks.push_back(
          {name, *rate, true, NumberClass::assumed, fmt::format("{}:{}", file_, line)});
    } else {
      const std::vector<std::string> known{"device", "date",        "class",      "build",
                                           "l2",     "peak.memory", "family.gemm"};
      fail(line, 1, fmt::format("unknown setting '{}'", key),
           "known are: " + join(known) + "; a comment has no colon behind its first word");
    }
  }

  // "# family.gemm: my_kernel"
  void read_family(int line, const std::string& family, const std::string& kernel) {
    const auto known = std::ranges::find(kKernelFamilyNames, family);
    if (known == kKernelFamilyNames.end()) {
      fail(line, 1, fmt::format("no family of kernels is called '{}'", family),
           fmt::format("{}", fmt::join(kKernelFamilyNames, ", ")));
      return;
    }
    const auto kind = static_cast<KernelFamily>(known - kKernelFamilyNames.begin());
    if (!set_.families.emplace(kernel, kind).second)
      fail(line, 1, fmt::format("the kernel '{}' has a family already", kernel));
    family_lines_.emplace(kernel, line);
  }
  void check_families() {
    std::set<std::string> kernels;
    for (const TimingCase& timing : set_.cases) kernels.insert(timing.kernel);
    for (const auto& [kernel, line] : family_lines_)
      if (!kernels.contains(kernel))
        fail(line, 1, fmt::format("no row is of the kernel '{}'", kernel),
             fmt::format("kernels: {}", fmt::join(kernels, ", ")));
  }

  // Reports a quantity with two columns: time_ns and time_us.
  void check_times(const std::map<std::string, int>& counted) {
    for (const std::string_view what : kTimes) {
      const auto found = counted.find(std::string(what));
      const int times = found == counted.end() ? 0 : found->second;
      if (times > 1) fail(table_.header.line, 1, fmt::format("several columns say '{}'", what));
      if (times == 0 && what == "time") {
        fail(table_.header.line, 1, "no column has the time of a launch",
             "time_ns, time_us, time_ms, time_s, or time with a unit in each cell");
      }
    }
    const bool low = counted.contains("low");
    if (low == counted.contains("high")) return;
    fail(table_.header.line, 1, "an interval needs both 'low' and 'high'");
  }

  bool check_header() {
    const CsvRow& header = table_.header;
    if (header.cells.empty()) {
      fail(1, 1, "no header line names the columns");
      return false;
    }
    const std::vector<std::string> known = csv_columns();
    std::map<std::string, int> counted;
    bool kernel = false;
    for (std::size_t i = 0; i < header.cells.size(); ++i) {
      const auto& [name, column] = header.cells[i];
      kernel = kernel || name == "kernel";
      if (const auto time = time_column(name)) ++counted[std::string(time->what)];
      if (!place_.emplace(name, i).second) {
        fail(header.line, column, fmt::format("column '{}' stands twice", name));
      }
      if (is_column(name)) continue;
      if (std::ranges::find(options_.context, name) != options_.context.end()) {
        set_.notes.push_back(
            fmt::format("{}:{}: column '{}' is left out, as context", file_, header.line, name));
        continue;
      }
      const std::string_view near = nearest(name, known);
      fail(header.line, column, fmt::format("unknown column '{}'", name),
           near.empty()
               ? fmt::format("shape.{} where it is a size; known are: {}", name, join(known))
               : fmt::format("did you mean '{}'?", near));
    }
    if (!kernel) fail(header.line, 1, "no column 'kernel' says what was timed");
    check_times(counted);
    if (!place_.contains("temperature")) {
      set_.notes.push_back(file_ + ": no column 'temperature': cold is taken");
    }
    return kernel;
  }

  const CsvCell* cell(const CsvRow& row, std::string_view name) const {
    const auto found = place_.find(name);
    return found == place_.end() ? nullptr : &row.cells[found->second];
  }
  std::string text(const CsvRow& row, std::string_view name) const {
    const CsvCell* found = cell(row, name);
    return found == nullptr ? std::string() : found->text;
  }
  // Returns `otherwise` where the column is missing; an empty cell is a mistake.
  double number(const CsvRow& row, std::string_view name, double least, double otherwise) {
    const CsvCell* found = cell(row, name);
    if (found == nullptr) return otherwise;
    const auto value = parse_number(found->text);
    if (value && *value >= least) return *value;
    fail(row.line, found->column,
         fmt::format("{}: '{}' is no number of at least {:g}", name, found->text, least));
    return otherwise;
  }
  std::int64_t whole(const CsvRow& row, std::string_view name) {
    const double value = number(row, name, 0, 0);
    if (value == std::floor(value) && value < 9e15) return static_cast<std::int64_t>(value);
    fail(row.line, cell(row, name)->column,
         fmt::format("{}: '{}' is no whole number", name, text(row, name)));
    return 0;
  }
  double size(const CsvRow& row, std::string_view name) {
    const CsvCell* found = cell(row, name);
    if (found == nullptr) return 0;
    const auto value = parse_size(found->text);
    if (value) return *value;
    fail(row.line, found->column, fmt::format("{}: {}", name, value.error()));
    return 0;
  }
  double time(const CsvRow& row, const std::string& name, const TimeColumn& column) {
    const CsvCell& found = *cell(row, name);
    Expected<double> seconds = 0.0;
    if (column.unit) {
      const auto value = parse_number(found.text);
      if (value) seconds = *value * *column.unit;
      if (!value) seconds = Unexpected(fmt::format("'{}' is no number", found.text));
    } else {
      seconds = parse_time(found.text);
    }
    if (!seconds) {
      fail(row.line, found.column, fmt::format("{}: {}", name, seconds.error()));
      return 0;
    }
    if (*seconds > 0) return *seconds;
    fail(row.line, found.column,
         fmt::format("{}: a time must be above 0, not {}", name, found.text));
    return 0;
  }

  void read_times(const CsvRow& row, TimingRepeat& repeat) {
    bool interval = false;
    for (const auto& [name, index] : place_) {
      const auto column = time_column(name);
      if (!column) continue;
      const double seconds = time(row, name, *column);
      if (column->what == "time") repeat.median = seconds;
      if (column->what == "low") repeat.low = seconds;
      if (column->what == "high") repeat.high = seconds;
      interval = interval || column->what != "time";
    }
    if (!interval) repeat.low = repeat.high = repeat.median;
  }

  void read_work(const CsvRow& row, TimingCase& timing) {
    for (const auto& [name, member] : kSizes) timing.work.*member = size(row, name);
    timing.work.flops = number(row, "flops", 0, 0);
    for (const std::string name :
         {"memory_bytes", "link_read_bytes", "link_write_bytes", "flops"}) {
      const CsvCell* found = cell(row, name);
      if (found != nullptr)
        timing.places.emplace(name, fmt::format("{}:{}:{}", file_, row.line, found->column));
    }
    timing.bytes_in_flight = size(row, "bytes_in_flight");
    timing.tail = number(row, "tail", 1, 1);
    const double waves = number(row, "waves", 0, 0);
    if (waves > 0) timing.tail = std::ceil(waves) / waves;
    for (const auto& [name, index] : place_) {
      if (name == "blocks") timing.shape[name] = whole(row, name);
      if (name.starts_with(kShape) && !row.cells[index].text.empty())
        timing.shape[name.substr(kShape.size())] = whole(row, name);
    }
  }

  void read_flags(const CsvRow& row, TimingCase& timing) {
    const CsvCell* temperature = cell(row, "temperature");
    if (temperature != nullptr && temperature->text == "warm") {
      timing.temperature = Temperature::warm;
    } else if (temperature != nullptr && temperature->text != "cold") {
      fail(row.line, temperature->column,
           fmt::format("temperature: '{}' is not one of cold, warm", temperature->text));
    }
    const CsvCell* baseline = cell(row, "baseline");
    if (baseline == nullptr) return;
    timing.baseline = baseline->text == "true";
    if (timing.baseline || baseline->text == "false") return;
    fail(row.line, baseline->column,
         fmt::format("baseline: '{}' is not one of true, false", baseline->text));
  }

  void read_row(const CsvRow& row) {
    TimingCase timing;
    timing.where = fmt::format("{}:{}:1", file_, row.line);
    timing.kernel = text(row, "kernel");
    if (timing.kernel.empty()) {
      fail(row.line, cell(row, "kernel")->column, "kernel: the cell is empty");
    }
    timing.variant = text(row, "variant");
    timing.dtype = text(row, "dtype");
    read_flags(row, timing);
    read_work(row, timing);
    TimingRepeat repeat;
    read_times(row, repeat);
    timing.name = text(row, "name");
    if (timing.name.empty()) timing.name = made_name(timing);
    add(row, std::move(timing), repeat);
  }

  static std::string made_name(const TimingCase& timing) {
    std::string out = timing.kernel;
    for (const std::string& part : {timing.variant, timing.dtype}) {
      if (!part.empty()) out += '.' + part;
    }
    for (const auto& [name, value] : timing.shape) out += fmt::format(".{}{}", name, value);
    if (timing.shape.empty()) out += fmt::format(".{:.0f}b", timing.work.memory_bytes);
    return out + (timing.temperature == Temperature::warm ? "/warm" : "/cold");
  }

  // Adds a case; a row with a process number, whose case is known, adds a repeat to that case.
  void add(const CsvRow& row, TimingCase timing, const TimingRepeat& repeat) {
    if (cell(row, "process") != nullptr) {
      const std::int64_t process = whole(row, "process");
      std::string identity =
          timing.name + '\n' + timing.kernel + '\n' + timing.variant + '\n' + timing.dtype + '\n';
      for (const double value :
           {timing.work.memory_bytes, timing.work.link_read_bytes, timing.work.link_write_bytes,
            timing.work.requested_bytes, timing.work.flops}) {
        identity += fmt::format("{},", value);
      }
      for (const auto& [name, value] : timing.shape) identity += fmt::format("{}={},", name, value);
      const auto [found, first] = processes_.try_emplace(identity, set_.cases.size());
      if (!seen_.emplace(fmt::format("{}\n{}", identity, process), true).second) {
        fail(row.line, cell(row, "process")->column,
             fmt::format("process {} of '{}' stands twice", process, timing.name));
      }
      if (!first) {
        repeats_[found->second].push_back(repeat);
        return;
      }
    }
    set_.cases.push_back(std::move(timing));
    repeats_.push_back({repeat});
  }

  const std::string& file_;
  const CsvTable& table_;
  const ReadOptions& options_;
  Diagnostics& diagnostics_;
  TimingSet set_;
  std::map<std::string, std::size_t, std::less<>> place_;  // index of each column
  std::vector<std::vector<TimingRepeat>> repeats_;         // of each case
  // Index of the case by the fields that its processes share.
  std::map<std::string, std::size_t> processes_;
  std::map<std::string, bool> seen_;
  std::map<std::string, int> family_lines_;  // by kernel
};

}  // namespace

std::vector<std::string> csv_columns() {
  std::vector<std::string> out(kOthers.begin(), kOthers.end());
  for (const auto& size : kSizes) out.emplace_back(size.first);
  for (const char* name : {"process", "blocks", "time", "time_ns", "time_us", "time_ms", "time_s",
                           "low_us", "high_us"}) {
    out.emplace_back(name);
  }
  return out;
}

TimingSet read_csv(const std::string& file, std::string_view text, const ReadOptions& options,
                   Diagnostics& diagnostics) {
  const CsvTable table = detail::read_csv_table(file, text, diagnostics);
  if (table.header.cells.empty() && !diagnostics.ok()) return {};
  return Reader(file, table, options, diagnostics).read();
}

}  // namespace tiersim
