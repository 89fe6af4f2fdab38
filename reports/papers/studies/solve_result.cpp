#include "reports/papers/studies/solve_result.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/studies/columns.hpp"

namespace tiersim {
namespace {

std::string metric_text(const SolveResult& result, const SolveAnswer& answer, double value) {
  StudyColumn column = column_of(result.question.metric, answer.record.get());
  column.unit = answer.unit;
  return shown(Cell(value), column);
}

// "5: 620 ms"
std::string next_text(const SolveResult& result, const SolveAnswer& answer) {
  return fmt::format("{}: {}", answer.next->value,
                     metric_text(result, answer, answer.next->metric));
}

std::string range_text(const SolveQuestion& question) {
  return fmt::format("{} to {}", question.between[0], question.between[1]);
}

}  // namespace

std::string sentence(const SolveResult& result, const SolveAnswer& answer) {
  const SolveQuestion& question = result.question;
  if (answer.outcome == "cannot run") return answer.problem;
  const std::string there = metric_text(result, answer, answer.metric);
  const std::string target = metric_text(result, answer, answer.target);
  // A server has several bottlenecks over time, so its record names none.
  const bool bounded = answer.record && !answer.record->bounded_by.empty();
  const std::string bound = bounded ? "bounded by " + answer.record->bounded_by : "";
  if (answer.outcome == "flat")
    return fmt::format("no value does it: {} is {} from {}, whatever {} is{}{}", question.metric,
                       there, range_text(question), question.vary, bounded ? "; " : "", bound);
  if (answer.outcome == "beyond") {
    // The goodput of a server rises with load and falls beyond its capacity.
    const bool server = answer.record && answer.record->serving.has_value();
    return fmt::format("no value in {} does it{}: {} is {} at {}{}{}", range_text(question),
                       server ? ", by its two ends, so unless it turns between them" : "",
                       question.metric, there, answer.display, bounded ? ", " : "", bound);
  }
  const std::string next = answer.next ? "; at " + next_text(result, answer) : "";
  return fmt::format("{} = {}: {} is {} (asked: {}){}{}{}", question.vary, answer.display,
                     question.metric, there, target, bounded ? ", " : "", bound, next);
}

std::string answer_text(const SolveAnswer& answer) {
  if (answer.outcome == "found") return answer.display;
  if (answer.outcome == "cannot run") return answer.outcome;
  const char* how_many = answer.metric <= answer.target ? "all" : "none";
  return answer.outcome == "flat" ? how_many : fmt::format("{}; at {}", how_many, answer.display);
}

std::string left_out_text(const SolveAnswer& answer) {
  if (answer.left_out.empty()) return "";
  return fmt::format("searched {} to {}; {}", answer.searched[0], answer.searched[1],
                     answer.left_out);
}

Table table_of(const SolveResult& result) {
  const SolveQuestion& question = result.question;
  const std::string title = column_of(question.metric, nullptr).title;
  Table table{
      .title = fmt::format("{} ({} from {})", question.title, question.vary, range_text(question))};
  const bool variants = !question.variants.empty();
  if (variants) table.columns.push_back({"method", Align::left});
  const bool whole = std::ranges::any_of(
      result.answers, [](const SolveAnswer& answer) { return answer.next.has_value(); });
  std::vector<std::string> titles{"answer", title + " there", title + " asked"};
  if (whole) titles.emplace_back("next to it");
  titles.emplace_back("runs");
  for (const std::string& name : titles) table.columns.push_back({name, Align::right});
  table.columns.push_back({"bounded by there", Align::left});
  for (const SolveAnswer& answer : result.answers) {
    std::vector<std::string> cells;
    if (variants) cells.push_back(answer.label);
    if (answer.outcome == "cannot run") {
      cells.emplace_back("cannot run");
      cells.resize(table.columns.size(), "-");
      table.notes.push_back(answer.label + ": " + answer.problem);
    } else {
      cells.insert(cells.end(), {answer_text(answer), metric_text(result, answer, answer.metric),
                                 metric_text(result, answer, answer.target)});
      if (whole) cells.push_back(answer.next ? next_text(result, answer) : "-");
      cells.push_back(std::to_string(answer.evaluations));
      cells.push_back(answer.record ? answer.record->bounded_by : "-");
    }
    if (const std::string text = left_out_text(answer); !text.empty())
      table.notes.push_back(answer.label + ": " + text);
    if (!answer.monotone)
      table.notes.push_back(answer.label + ": not monotone over the range; others may exist");
    table.add(std::move(cells));
  }
  table.notes.insert(table.notes.end(), question.notes.begin(), question.notes.end());
  return table;
}

Table raw_table(const SolveResult& result) {
  Table table{.title = result.question.title,
              .columns = {{"variant"},
                          {"outcome"},
                          {result.question.vary},
                          {result.question.metric},
                          {"target"},
                          {"next"},
                          {"next_" + result.question.metric},
                          {"bounded_by"},
                          {"problem"}}};
  for (const SolveAnswer& answer : result.answers)
    table.add({answer.label, answer.outcome, answer.value, fmt::format("{}", answer.metric),
               fmt::format("{}", answer.target), answer.next ? answer.next->value : "",
               answer.next ? fmt::format("{}", answer.next->metric) : "",
               answer.record ? answer.record->bounded_by : "", answer.problem});
  return table;
}

}  // namespace tiersim
