#include "workloads/trace/index_trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "workloads/attention/expected_rows.hpp"
#include "workloads/trace/stack_distance.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kContextMost = 100'000'000;  // as the range of StepConfig
constexpr std::int64_t kGroupsMost = 1'000'000;
constexpr std::size_t kProblemsMost = 10;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

std::optional<std::int64_t> whole_number(const std::string& word) {
  std::int64_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

class Parser {
 public:
  void line(int number, const std::vector<std::string>& words) {
    number_ = number;
    if (words.empty()) return;
    if (words.front() == "context") return header(words, trace_.context, kContextMost);
    if (words.front() == "groups" && lines_ == 0) return header(words, groups_, kGroupsMost);
    if (trace_.context == 0)
      return report("stands before the context", "begin with a line such as 'context 4096'");
    step(words);
  }

  Expected<IndexTrace, std::vector<ImportProblem>> finish() && {
    if (!problems_.empty()) return Unexpected(std::move(problems_));
    if (lines_ < 2 * groups() || lines_ % groups() != 0)
      return Unexpected(std::vector<ImportProblem>{
          {fmt::format("has {} lines of positions for {} groups", lines_, groups()),
           "give every group a line for each of two steps or more"}});
    return std::move(trace_);
  }
  bool is_full() const { return problems_.size() >= kProblemsMost; }

 private:
  std::int64_t groups() const { return groups_ == 0 ? 1 : groups_; }

  void header(const std::vector<std::string>& words, std::int64_t& value, std::int64_t most) {
    const std::int64_t number = words.size() == 2 ? whole_number(words[1]).value_or(0) : 0;
    if (lines_ > 0) return report(fmt::format("'{}' stands among the steps", words[0]), "");
    if (value != 0) return report(fmt::format("'{}' is given twice", words[0]), "");
    if (number < 1 || number > most)
      return report(fmt::format("'{}' needs one whole number from 1 to {}", words[0], most), "");
    value = number;
  }

  void step(const std::vector<std::string>& words) {
    std::vector<std::int64_t> positions;
    for (const std::string& word : words) {
      const auto position = whole_number(word);
      if (!position || *position < 0 || *position >= trace_.context)
        return report(fmt::format("'{}' is no position of a context of {}", word, trace_.context),
                      fmt::format("positions are whole numbers from 0 to {}", trace_.context - 1));
      positions.push_back(*position);
    }
    std::vector<std::int64_t> sorted = positions;
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end())
      return report(fmt::format("position {} stands twice", *twice), "a step chooses a row once");
    trace_.groups.resize(static_cast<std::size_t>(groups()));
    trace_.groups[static_cast<std::size_t>(lines_ % groups())].push_back(std::move(positions));
    ++lines_;
  }

  void report(const std::string& message, std::string hint) {
    problems_.push_back({fmt::format("line {}: {}", number_, message), std::move(hint)});
  }

  IndexTrace trace_;
  std::int64_t groups_ = 0;  // 0: not stated
  std::int64_t lines_ = 0;   // lines of positions
  int number_ = 0;
  std::vector<ImportProblem> problems_;
};

}  // namespace

Expected<IndexTrace, std::vector<ImportProblem>> parse_index_trace(const std::string& text) {
  Parser parser;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line) && !parser.is_full();)
    parser.line(++number, words_of(line));
  return std::move(parser).finish();
}

double ReuseCounts::hit_rate(std::int64_t rows) const {
  const auto within = std::min<std::size_t>(static_cast<std::size_t>(rows) + 1, at_distance.size());
  const auto found =
      std::accumulate(at_distance.begin(),
                      at_distance.begin() + static_cast<std::ptrdiff_t>(within), std::int64_t{0});
  return looked_up == 0 ? 0.0 : static_cast<double>(found) / static_cast<double>(looked_up);
}

ReuseCounts count_reuse(const IndexTrace& trace) {
  ReuseCounts out;
  for (const auto& steps : trace.groups) {
    StackDistances stack;
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (const std::int64_t distance : stack.look_up(steps[i])) {
        if (i == 0) continue;
        ++out.looked_up;
        if (distance == 0) continue;
        const auto at = static_cast<std::size_t>(distance);
        if (at >= out.at_distance.size()) out.at_distance.resize(at + 1);
        ++out.at_distance[at];
      }
  }
  return out;
}

Expected<std::string, std::vector<ImportProblem>> import_index_trace(const std::filesystem::path&,
                                                                     const std::string& text) {
  const auto trace = parse_index_trace(text);
  if (!trace) return Unexpected(trace.error());
  const ReuseCounts counts = count_reuse(*trace);
  // Dense where caches are small and the curve bends most.
  constexpr std::array kShares{0.0,  0.01, 0.02, 0.03, 0.05, 0.07, 0.1,
                               0.15, 0.2,  0.3,  0.5,  0.7,  1.0};
  std::string yaml = "reuse:\n";
  for (const double share : kShares) {
    const std::int64_t rows = whole_up(share * static_cast<double>(trace->context));
    yaml += fmt::format("  - {{share: {}, rows: {}, hit_rate: {}}}\n", share, rows,
                        counts.hit_rate(rows));
  }
  return yaml;
}

}  // namespace tiersim
