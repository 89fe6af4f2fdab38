#include "sim/validate/run_table.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/csv_table.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"
#include "sim/base/text.hpp"
#include "sim/expression/expression.hpp"
#include "sim/validate/run_json.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kMostMistakes = 20;
constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);  // position of an absent column

using RowNames = std::map<std::string, ExpressionValue, std::less<>>;

// A number where the cell is one, else its text. Benchmarks write inf for a rate without a limit.
ExpressionValue value_of_cell(const std::string& text) {
  if (text == "inf") return Magnitude{std::numeric_limits<double>::infinity()};
  const auto number = parse_number(text);
  return number ? ExpressionValue(Magnitude{*number}) : ExpressionValue(text);
}

// Turns a text into the name of a group or run: lower-case letters, digits, - and _.
std::string name_of(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (plain)
      out += c;
    else if (c >= 'A' && c <= 'Z')
      out += static_cast<char>(c - 'A' + 'a');
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

class RunTableReader {
 public:
  RunTableReader(const std::string& file, const RunTableConfig& config, Diagnostics& diagnostics)
      : file_(file), config_(config), diagnostics_(diagnostics) {}

  RunTable read(std::string_view text) {
    const detail::CsvTable table = looks_like_json(text)
                                       ? table_of_json(file_, text, all_names(), diagnostics_)
                                       : detail::read_csv_table(file_, text, diagnostics_);
    if (!diagnostics_.ok() || !find_columns(table.header)) return {};
    for (const detail::CsvRow& row : table.rows) {
      if (mistakes_ >= kMostMistakes) break;
      line_ = row.line;
      add(row);
    }
    return std::move(out_);
  }

 private:
  void fail(int column, std::string message, std::string hint = {}) {
    ++mistakes_;
    diagnostics_.report({{file_, line_, column}, std::move(message), std::move(hint)});
  }

  bool find_columns(const detail::CsvRow& header) {
    line_ = header.line;
    std::vector<std::string> present;
    for (const detail::CsvCell& cell : header.cells) present.push_back(cell.text);
    if (present.empty()) {
      fail(1, "has none of the columns", "columns: " + join(config_.columns));
      return false;
    }
    for (const std::string& column : config_.columns) {
      const std::string& name = name_in(present, column);
      if (const auto other = config_.also.find(column);
          other != config_.also.end() && name == column &&
          std::ranges::find(present, column) != present.end() &&
          std::ranges::find(present, other->second) != present.end())
        fail(1, fmt::format("columns '{}' and '{}' are two names of one", column, other->second),
             "one of them");
      const auto at = std::ranges::find(present, name);
      if (at == present.end() && config_.empty.contains(column)) {
        columns_.push_back(kAbsent);
        continue;
      }
      if (at == present.end())
        fail(1, fmt::format("there is no column '{}'", column), "columns: " + join(present));
      else if (const auto second = std::find(at + 1, present.end(), name); second != present.end())
        fail(header.cells[static_cast<std::size_t>(second - present.begin())].column,
             fmt::format("column '{}' stands twice", name));
      columns_.push_back(static_cast<std::size_t>(at - present.begin()));
    }
    return mistakes_ == 0;
  }

  // Names that columns may have.
  std::vector<std::string> all_names() const {
    std::vector<std::string> out = config_.columns;
    for (const auto& [column, other] : config_.also) out.push_back(other);
    return out;
  }

  // The name of a column in this table: its own, or the other one that it may have.
  const std::string& name_in(const std::vector<std::string>& present, const std::string& column) {
    const auto other = config_.also.find(column);
    const bool own = std::ranges::find(present, column) != present.end();
    return own || other == config_.also.end() ? column : other->second;
  }

  std::optional<ExpressionValue> value(const std::string& formula) {
    const auto result = Expression::parse(formula)->evaluate(
        [&](std::string_view name) -> std::optional<ExpressionValue> {
          const auto found = names_.find(name);
          if (found == names_.end()) return std::nullopt;
          return found->second;
        });
    if (result) return *result;
    fail(1, fmt::format("'{}': {}", formula, result.error().message));
    return std::nullopt;
  }

  bool truth(const std::string& formula) {
    if (formula.empty()) return false;
    const auto result = value(formula);
    if (!result) return false;
    if (const bool* is = std::get_if<bool>(&*result)) return *is;
    fail(1, fmt::format("'{}' is neither true nor false", formula));
    return false;
  }

  std::string text(const std::string& with_formulas) {
    std::string out;
    for (const TextPiece& piece : text_pieces(with_formulas)) {
      if (!piece.formula) {
        out += piece.text;
      } else if (const auto result = value(piece.text)) {
        out += label_text(*result);
      }
    }
    return out;
  }

  // Nothing for '' and without a formula.
  std::optional<double> amount(const std::string& formula) {
    if (formula.empty()) return std::nullopt;
    const auto result = value(formula);
    if (!result) return std::nullopt;
    const auto* none = std::get_if<std::string>(&*result);
    if (none && none->empty()) return std::nullopt;
    const auto* number = std::get_if<Magnitude>(&*result);
    if (number && number->value > 0 && std::isfinite(number->value)) return number->value;
    fail(1, fmt::format("'{}' gives no number above 0", formula));
    return std::nullopt;
  }

  std::optional<Duration> time(const std::string& formula) {
    const auto seconds = amount(formula);
    if (!seconds) return std::nullopt;
    if (*seconds >= 1e-12 && *seconds < 1e6) return Duration(std::llround(*seconds * 1e12));
    fail(1, fmt::format("'{}' gives {} s", formula, *seconds), "1e-12 s to 1000000 s");
    return std::nullopt;
  }

  std::optional<std::int64_t> users() {
    const auto number = amount(config_.users);
    if (!number) return std::nullopt;
    if (*number >= 1 && *number <= 1e6 && *number == std::floor(*number))
      return static_cast<std::int64_t>(*number);
    fail(1, fmt::format("'{}' gives {} users", config_.users, *number),
         "a whole number from 1 to 1000000");
    return std::nullopt;
  }

  // A name with at least one letter or digit.
  std::string name(const std::string& with_formulas) {
    const std::string all = text(with_formulas);
    std::string out = name_of(all);
    if (out.empty()) fail(1, fmt::format("'{}' gives no name: '{}'", with_formulas, all));
    return out;
  }

  // The reason why the row is left out; nothing where it is simulated.
  std::optional<std::string> left_out() {
    for (const RunSkip& skip : config_.skip)
      if (truth(skip.where)) return skip.why;
    for (const RunCases& cases : config_.cases) {
      const std::string is = label_text(names_.at(cases.column));
      if (cases.settings(is) == nullptr)
        return fmt::format("{} '{}' is not described", cases.column, is);
    }
    return std::nullopt;
  }

  PublishedGroup& group() {
    const bool apart = truth(config_.apart);
    const std::string id = name(config_.group) + (apart ? "-apart" : "");
    const auto found = std::ranges::find(out_.runs.groups, id, &PublishedGroup::id);
    if (found != out_.runs.groups.end()) return *found;
    out_.runs.groups.push_back({.id = id,
                                .engine = text(config_.group),
                                .setup = text(config_.setup),
                                .source = config_.source,
                                .config = config_.config,
                                .requests_per_user = config_.requests_per_user,
                                .assumed = config_.assumed,
                                .counted = !apart,
                                .runs = {}});
    return out_.runs.groups.back();
  }

  // The text of a column, or what it stands for where it is empty.
  std::string cell(const detail::CsvRow& row, std::size_t column) const {
    static const std::string none;
    const std::size_t at = columns_[column];
    const std::string& text = at == kAbsent ? none : row.cells[at].text;
    const auto stands_for = config_.empty.find(config_.columns[column]);
    return text.empty() && stands_for != config_.empty.end() ? stands_for->second : text;
  }

  // A column whose empty cells are empty texts has texts alone: a version 0.20 is no number.
  bool is_text(const std::string& column) const {
    const auto stands_for = config_.empty.find(column);
    return stands_for != config_.empty.end() && stands_for->second.empty();
  }

  void add(const detail::CsvRow& row) {
    names_.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& column = config_.columns[i];
      names_[column] =
          is_text(column) ? ExpressionValue(cell(row, i)) : value_of_cell(cell(row, i));
    }
    for (const RunValue& each : config_.values) {
      const auto result = value(each.is);
      if (!result) return;
      names_[each.name] = *result;
    }
    if (const auto why = left_out()) {
      ++out_.skipped[*why];
      return;
    }
    if (!config_.once.empty() && !seen_.insert(text(config_.once)).second) {
      ++out_.skipped["the same run is above"];
      return;
    }
    PublishedRun run{.id = name(config_.id), .published = {}};
    for (const RunCases& cases : config_.cases)
      for (const std::string& setting : *cases.settings(label_text(names_.at(cases.column))))
        run.set.push_back(text(setting));
    for (const std::string& setting : config_.set) run.set.push_back(text(setting));
    run.at = fmt::format("{}:{}", file_, line_);
    run.users = users();
    for (const RunValue& label : config_.labels)
      if (const auto result = value(label.is)) run.labels[label.name] = label_text(*result);
    run.published.ttft = time(config_.ttft);
    run.published.tpot = time(config_.tpot);
    run.published.throughput = amount(config_.throughput);
    run.published.energy = amount(config_.energy);
    run.published.power = amount(config_.power);
    if (std::ranges::none_of(kPublishedMetrics, [&](PublishedMetric metric) {
          return run.published.value(metric).has_value();
        })) {
      ++out_.skipped["it has no result"];
      return;
    }
    PublishedGroup& of = group();
    if (!ids_.insert(of.id + "." + run.id).second)
      fail(1, fmt::format("a run of {} is named '{}' for the second time", of.id, run.id));
    of.runs.push_back(std::move(run));
  }

  const std::string& file_;
  const RunTableConfig& config_;
  Diagnostics& diagnostics_;
  std::vector<std::size_t> columns_;
  RowNames names_;
  std::set<std::string> ids_;
  std::set<std::string> seen_;  // texts of `once`
  RunTable out_;
  std::size_t mistakes_ = 0;
  int line_ = 1;
};

}  // namespace

Expected<RunTable, Diagnostics> read_run_table(const std::string& file, std::string_view text,
                                               const RunTableConfig& config) {
  Diagnostics diagnostics;
  RunTable table = RunTableReader(file, config, diagnostics).read(text);
  if (!diagnostics.ok()) return Unexpected(std::move(diagnostics));
  return table;
}

}  // namespace tiersim
