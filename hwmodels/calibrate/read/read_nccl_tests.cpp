#include "hwmodels/calibrate/read/read_nccl_tests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_text.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

struct Collective {
  std::string_view name;
  double factor_per_share = 0;  // busbw / algbw over (n-1)/n; 0: the factor is 1
  bool counts_a_share = false;  // the count is of one rank only
};
constexpr std::array<Collective, 9> kCollectives{{
    {"all_reduce", 2, false},
    {"all_gather", 1, true},
    {"reduce_scatter", 1, true},
    {"alltoall", 1, true},
    {"gather", 1, true},
    {"scatter", 1, true},
    {"broadcast", 0, false},
    {"reduce", 0, false},
    {"sendrecv", 0, false},
}};
const std::map<std::string_view, std::pair<double, std::string_view>> kTypes{
    {"int8", {1, "int8"}},     {"uint8", {1, "uint8"}},   {"int32", {4, "int32"}},
    {"uint32", {4, "uint32"}}, {"int64", {8, "int64"}},   {"uint64", {8, "uint64"}},
    {"half", {2, "fp16"}},     {"bfloat16", {2, "bf16"}}, {"float", {4, "fp32"}},
    {"double", {8, "fp64"}},   {"f8e4m3", {1, "fp8"}},    {"f8e5m2", {1, "fp8"}},
    {"fp8_e4m3", {1, "fp8"}},  {"fp8_e5m2", {1, "fp8"}}};

const Collective* collective_named(std::string_view name) {
  if (name.ends_with("_perf")) name.remove_suffix(5);
  const auto* found = std::ranges::find(kCollectives, name, &Collective::name);
  return found == kCollectives.end() ? nullptr : found;
}

// A printed number and half a unit of its last digit.
struct Printed {
  double value = 0;
  double half = 0;
};
std::optional<Printed> printed(std::string_view text) {
  const auto value = parse_number(text);
  if (!value || *value < 0) return std::nullopt;
  const std::size_t point = text.find('.');
  const auto digits =
      point == std::string_view::npos ? 0 : static_cast<int>(text.size() - point - 1);
  return Printed{*value, 0.5 * std::pow(10.0, -digits)};
}

struct Half {  // out-of-place or in-place
  Printed time, algorithm, bus;
  std::string wrong;
};
struct Row {
  int line = 1;
  double size = 0;
  double count = 0;
  std::string type;
  std::string operation;
  std::array<Half, 2> halves;
};

class Log {
 public:
  Log(const std::string& file, const ReadOptions& options, Diagnostics& diagnostics)
      : file_(file), options_(options), diagnostics_(diagnostics) {
    set_.file = file;
    set_.format = "nccl_tests";
  }

  void line(int number, std::string_view text) {
    const std::vector<std::string_view> parts = words(text);
    if (parts.empty()) return;
    find_collective(parts);
    if (parts.front().starts_with('#')) {
      comment(number, text, parts);
    } else if (parse_number(parts.front())) {
      row(number, parts);
    } else {
      ++left_out_;
    }
  }

  TimingSet finish() {
    if (left_out_ > 0) {
      set_.notes.push_back(
          fmt::format("{}: {} lines of other text are left out", file_, left_out_));
    }
    if (collective_ == nullptr && !options_.collective.empty()) {
      collective_ = collective_named(options_.collective);
    }
    if (ranks_ == 0) ranks_ = options_.ranks > 0 ? options_.ranks : threads_times_gpus_;
    if (collective_ == nullptr) fail(1, "nothing says which test this is", collectives());
    if (ranks_ < 2) {
      fail(1, fmt::format("{} ranks: nothing says how many took part, or it was one", ranks_),
           "two or more");
    }
    if (!diagnostics_.ok()) return {};
    for (const Row& row : rows_) {
      for (std::size_t half = 0; half < 2; ++half) add(row, half);
    }
    return std::move(set_);
  }

 private:
  void fail(int line, std::string message, std::string hint = {}) {
    diagnostics_.report({{file_, line}, std::move(message), std::move(hint)});
  }
  static std::string collectives() {
    std::vector<std::string> names;
    for (const Collective& each : kCollectives) names.emplace_back(each.name);
    return "one of " + join(names);
  }

  void find_collective(const std::vector<std::string_view>& parts) {
    for (std::string_view part : parts) {
      part.remove_prefix(part.rfind('/') + 1);
      if (!part.ends_with("_perf")) continue;
      const Collective* found = collective_named(part);
      if (found != nullptr && collective_ == nullptr) collective_ = found;
    }
  }

  void comment(int number, std::string_view text, const std::vector<std::string_view>& parts) {
    if (is_nccl_header(text)) {
      columns_.assign(parts.begin() + 1, parts.end());
      header_ = number;
      if (std::ranges::count(columns_, "time") != 2 || std::ranges::count(columns_, "size") != 1 ||
          std::ranges::count(columns_, "count") != 1 || std::ranges::count(columns_, "type") != 1) {
        fail(number, "a table of NCCL's tests has size, count, type and two times");
      }
      return;
    }
    if (text.find("(B)") != std::string_view::npos) check_units(number, text);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto value = parse_number(parts[i + 1]);
      if (!value) continue;
      if (parts[i] == "Rank") ranks_ = std::max(ranks_, static_cast<std::int64_t>(*value) + 1);
      if (parts[i] == "nThread") threads_times_gpus_ = static_cast<std::int64_t>(*value);
      if (parts[i] == "nGpus") threads_times_gpus_ *= static_cast<std::int64_t>(*value);
    }
    const std::size_t bracket = text.find("] ");
    if (parts.size() > 2 && parts[1] == "Rank" && bracket != std::string_view::npos) {
      set_.device = trimmed(text.substr(bracket + 2));
    }
  }

  // Checks the line of units under the header.
  void check_units(int number, std::string_view text) {
    const std::vector<std::string_view> units = words(text);
    const auto times = std::ranges::count(units, "(us)");
    if (times == 2 && std::ranges::count(units, "(GB/s)") == 4) return;
    fail(number, "the units of this table are not (us) and (GB/s)");
  }

  void row(int number, const std::vector<std::string_view>& parts) {
    if (columns_.empty()) return fail(number, "a row of numbers, and no header line before it");
    if (parts.size() != columns_.size()) {
      return fail(number, fmt::format("{} numbers, but the header at line {} has {} columns",
                                      parts.size(), header_, columns_.size()));
    }
    Row out;
    out.line = number;
    int half = -1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (columns_[i] == "time") ++half;
      cell(number, columns_[i], parts[i], half, out);
    }
    rows_.push_back(std::move(out));
  }

  void cell(int number, const std::string& column, std::string_view text, int half, Row& out) {
    if (column == "type") {
      out.type = text;
      if (!kTypes.contains(text)) fail(number, fmt::format("type: '{}' is none of NCCL's", text));
      return;
    }
    if (column == "redop") {
      out.operation = text;
      return;
    }
    if (column == "root") return;
    if (half >= 0 && (column == "#wrong" || column == "error")) {
      out.halves.at(static_cast<std::size_t>(half)).wrong = text;
      return;
    }
    const auto value = printed(text);
    if (!value) return fail(number, fmt::format("{}: '{}' is no number", column, text));
    if (column == "size") {
      out.size = value->value;
    } else if (column == "count") {
      out.count = value->value;
    } else if (half >= 0 && column == "time") {
      out.halves.at(static_cast<std::size_t>(half)).time = *value;
    } else if (half >= 0 && column == "algbw") {
      out.halves.at(static_cast<std::size_t>(half)).algorithm = *value;
    } else if (half >= 0 && column == "busbw") {
      out.halves.at(static_cast<std::size_t>(half)).bus = *value;
    } else {
      fail(number, fmt::format("unknown column '{}'", column));
    }
  }

  double share() const {
    const auto n = static_cast<double>(ranks_);
    return collective_->factor_per_share == 0 ? 1 : (n - 1) / n;
  }

  // True where algbw equals `bytes` over the time, in us times `scale`, within the printed digits.
  static bool rate_fits(const Half& half, double bytes, double scale) {
    const auto rate = [&](double us) { return bytes / (us * scale) * 1e-3; };
    const double time = half.time.value;
    const double digit = half.time.half;
    const double most = time > digit ? rate(time - digit) : HUGE_VAL;
    return half.algorithm.value <= most + half.algorithm.half &&
           half.algorithm.value >= rate(time + digit) - half.algorithm.half;
  }

  // All contradictions within a half, as rule and reason. Early versions of the tests computed both
  // rates of all_gather and the like from the bytes that a rank receives.
  std::vector<std::pair<std::string, std::string>> contradictions(const Row& row,
                                                                  const Half& half) const {
    std::vector<std::pair<std::string, std::string>> out;
    const double element = kTypes.at(row.type).first;
    const double ranks = collective_->counts_a_share ? static_cast<double>(ranks_) : 1;
    const double size = row.count * element * ranks;
    if (size != row.size) {
      const bool elements = row.size == row.count && element > 1;
      out.emplace_back(
          elements ? "elements for bytes" : "size against count",
          fmt::format("its size of {:.0f} B is not {:.0f} elements of {:.0f} B{}: {:.0f} B"
                      "{}",
                      row.size, row.count, element,
                      ranks > 1 ? fmt::format(" at {:.0f} ranks", ranks) : "", size,
                      elements ? "; the element count stands for the bytes" : ""));
    }
    const bool before = collective_->counts_a_share && half.bus.value == half.algorithm.value &&
                        rate_fits(half, share() * row.size, 1);
    if (before) return out;
    if (!rate_fits(half, row.size, 1)) {
      std::string why =
          fmt::format("{:.0f} B in {:g} us are {:.4g} GB/s, but its algbw is {:g}", row.size,
                      half.time.value, row.size / half.time.value * 1e-3, half.algorithm.value);
      const bool ms = rate_fits(half, row.size, 1e3);
      const bool ns = rate_fits(half, row.size, 1e-3);
      if (ms) why += "; it fits a time in ms";
      if (ns) why += "; it fits a time in ns";
      out.emplace_back(ms || ns ? "unit slip" : "algbw against time", std::move(why));
    }
    const double factor =
        (collective_->factor_per_share == 0 ? 1 : collective_->factor_per_share) * share();
    const double slack = half.bus.half + factor * half.algorithm.half;
    if (std::abs(half.bus.value - factor * half.algorithm.value) > slack * (1 + 1e-9)) {
      out.emplace_back(
          "busbw against algbw",
          fmt::format("its busbw of {:g} is not its algbw of {:g} times {:.4g} ({} at {} "
                      "ranks)",
                      half.bus.value, half.algorithm.value, factor, collective_->name, ranks_));
    }
    return out;
  }

  void add(const Row& row, std::size_t index) {
    const Half& half = row.halves.at(index);
    const char* place = index == 0 ? "out_of_place" : "in_place";
    TimingCase timing;
    timing.where = fmt::format("{}:{}:1", file_, row.line);
    timing.kernel = collective_->name;
    timing.variant = row.operation.empty() || row.operation == "none" ? std::string(place)
                                                                      : row.operation + '.' + place;
    timing.dtype = kTypes.at(row.type).second;
    timing.shape = {{"ranks", ranks_}, {"count", static_cast<std::int64_t>(row.count)}};
    timing.name = fmt::format("{}.{}.{}.n{}.{:.0f}b", collective_->name, timing.variant,
                              timing.dtype, ranks_, row.size);
    if (!(half.time.value > 0)) return refuse(timing, "no time", "its time is 0");
    const bool counted = !half.wrong.empty() && half.wrong != "N/A";
    const auto wrong = counted ? parse_number(half.wrong) : std::nullopt;
    bool refused = false;
    if (wrong && *wrong > 0 && half.wrong.find('e') == std::string::npos) {
      refuse(timing, "wrong result", fmt::format("{} elements came out wrong", half.wrong));
      refused = true;
    }
    for (auto& [rule, reason] : contradictions(row, half)) {
      refuse(timing, rule, std::move(reason));
      refused = true;
    }
    if (row.size == 0) {
      set_.notes.push_back(timing.where + ": " + timing.name + ": moves nothing, so left out");
    }
    if (refused || row.size == 0) return;
    timing.seconds = half.time.value * 1e-6;
    timing.low = timing.high = timing.seconds;  // the log has no interval
    timing.work.link_read_bytes = share() * row.size;
    timing.work.link_write_bytes = share() * row.size;
    set_.cases.push_back(std::move(timing));
  }

  void refuse(const TimingCase& timing, std::string rule, std::string reason) {
    set_.refused.push_back({timing.where, timing.name, std::move(rule), std::move(reason)});
  }

  const std::string& file_;
  const ReadOptions& options_;
  Diagnostics& diagnostics_;
  TimingSet set_;
  const Collective* collective_ = nullptr;
  std::int64_t ranks_ = 0;
  std::int64_t threads_times_gpus_ = 0;
  std::vector<std::string> columns_;
  int header_ = 0;
  int left_out_ = 0;
  std::vector<Row> rows_;
};

}  // namespace

bool is_nccl_header(std::string_view line) {
  return line.starts_with('#') && line.find("algbw") != std::string_view::npos &&
         line.find("busbw") != std::string_view::npos;
}

TimingSet read_nccl_tests(const std::string& file, std::string_view text,
                          const ReadOptions& options, Diagnostics& diagnostics) {
  Log log(file, options, diagnostics);
  int number = 0;
  for (const std::string_view line : lines_of(text)) log.line(++number, line);
  return log.finish();
}

}  // namespace tiersim
