// Checks over the points of a study. Each test gives one number and a bound, so that results have
// the form of printed cells: a deviation, or the number of points that break the rule.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "reports/papers/studies/study_result.hpp"

namespace tiersim {
namespace {

struct Sample {
  std::string label;  // label on the last axis
  const RunRecord* record = nullptr;
};

struct Verdict {
  double expected = 0;
  double simulated = 0;
  double tolerance = 0;
  std::string unit;
  std::string problem = {};  // the reason for a failure that the numbers do not show
};

std::vector<Sample> samples_of(const StudyResult& result, const StudyCheck& check) {
  std::vector<Sample> out;
  for (const StudyRow& row : result.rows) {
    bool chosen = row.record != nullptr;
    for (std::size_t a = 0; a < result.study.axes.size(); ++a) {
      const auto it = check.rows.find(result.study.axes[a].name);
      chosen = chosen && (it == check.rows.end() || it->second == row.point.labels[a]);
    }
    if (chosen) out.push_back({row.point.labels.back(), row.record.get()});
  }
  return out;
}

std::optional<double> number(const std::string& column, const RunRecord& record) {
  const std::optional<double> value = cell_of(column, record).number();
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> quantity(const StudyCheck& check, const RunRecord& record) {
  double sum = 0;
  for (const std::string& column : check.sum) {
    const auto value = number(column, record);
    if (!value) return std::nullopt;
    sum += *value;
  }
  if (check.over.empty()) return sum;
  const auto divisor = number(check.over, record);
  if (!divisor || *divisor == 0) return std::nullopt;
  return sum / *divisor;
}

std::optional<double> leading_number(const std::string& label) {
  double value = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), value);
  if (error != std::errc{} || end == label.data()) return std::nullopt;
  return value;
}

Verdict failed(std::string problem) {
  return {.simulated = std::nan(""), .unit = "", .problem = std::move(problem)};
}

// Largest distance from the straight line through the end points, over the range between them.
Verdict linear(const StudyCheck& check, const std::vector<Sample>& samples,
               const std::vector<double>& values) {
  if (samples.size() < 3) return failed("fewer than three points to tell a line by");
  std::vector<double> at;
  for (const Sample& sample : samples) {
    const auto x = leading_number(sample.label);
    if (!x) return failed("'" + sample.label + "' is no number");
    at.push_back(*x);
  }
  const double range = values.back() - values.front();
  if (range == 0 || at.back() == at.front()) return failed("it does not change at all");
  double worst = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double share = (at[i] - at.front()) / (at.back() - at.front());
    worst = std::max(worst, std::abs((values[i] - values.front()) / range - share));
  }
  return {.expected = 0, .simulated = worst, .tolerance = check.tolerance, .unit = "of range"};
}

Verdict rises(const std::vector<double>& values) {
  if (values.size() < 2) return failed("fewer than two points");
  double falls = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i] <= values[i - 1]) ++falls;
  return {.expected = 0, .simulated = falls, .unit = "points that do not rise"};
}

Verdict largest(const StudyCheck& check, const Sample& last, double value) {
  double larger = 0;
  for (const TimeShare& part : last.record->time_split) {
    const bool own = std::ranges::find(check.sum, "split." + part.name) != check.sum.end();
    if (!own && part.seconds >= value) ++larger;
  }
  return {.expected = 0, .simulated = larger, .unit = "larger parts"};
}

Verdict compared(const StudyCheck& check, const std::vector<double>& values) {
  Verdict out{.expected = check.value,
              .simulated = values.front(),
              .tolerance = check.tolerance,
              .unit = ""};
  const auto beyond = [&](double v) {
    return check.test == CheckTest::equals ? std::abs(v - check.value) : v - check.value;
  };
  for (const double value : values)
    if (beyond(value) > beyond(out.simulated)) out.simulated = value;
  return out;
}

Verdict is_text(const StudyCheck& check, const std::vector<Sample>& samples) {
  double others = 0;
  for (const Sample& sample : samples)
    if (cell_of(check.sum.front(), *sample.record) != Cell(check.text)) ++others;
  return {.expected = 0, .simulated = others, .unit = "points that are not " + check.text};
}

Verdict verdict(const StudyResult& result, const StudyCheck& check) {
  const std::vector<Sample> samples = samples_of(result, check);
  if (samples.empty()) return failed("no point of it ran");
  if (check.test == CheckTest::is) return is_text(check, samples);
  std::vector<double> values;
  for (const Sample& sample : samples) {
    const auto value = quantity(check, *sample.record);
    if (!value) return failed("no value at " + sample.label);
    values.push_back(*value);
  }
  switch (check.test) {
    case CheckTest::linear:
      return linear(check, samples, values);
    case CheckTest::rises:
      return rises(values);
    case CheckTest::largest:
      return largest(check, samples.back(), values.back());
    default:
      return compared(check, values);
  }
}

bool passes(const StudyCheck& check, const Verdict& v) {
  if (!v.problem.empty()) return false;
  if (check.test == CheckTest::at_most) return v.simulated <= v.expected + v.tolerance;
  return std::abs(v.simulated - v.expected) <= v.tolerance;
}

}  // namespace

std::vector<TargetResult> checked(const StudyResult& result) {
  std::vector<TargetResult> out;
  for (const StudyCheck& check : result.study.checks) {
    const Verdict v = verdict(result, check);
    const bool holds = passes(check, v);
    out.push_back({.id = check.id,
                   .reading = "first_principles",
                   .paper = v.expected,
                   .simulated = v.simulated,
                   .unit = v.unit,
                   .tolerance = v.tolerance,
                   .status = holds ? "shape" : "fail",
                   .why = v.problem.empty() ? check.says : check.says + ": " + v.problem});
    if (!check.why.empty()) out.back().why += " (tolerance: " + check.why + ")";
  }
  return out;
}

}  // namespace tiersim
