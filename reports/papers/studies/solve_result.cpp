#include "reports/papers/studies/solve_result.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/studies/columns.hpp"
#include "sim/base/display.hpp"

namespace tiersim {
namespace {

// "5: 620 ms"
std::string next_text(const SolveAnswer& answer) {
  return fmt::format("{}: {}", answer.next->value, display(answer.next->metric, answer.unit));
}

// " [12 ms, 14 ms]"
std::string interval_text(const SolveAnswer& answer) {
  if (!answer.ci95) return "";
  return fmt::format(" [{}, {}]", display(answer.ci95->low, answer.unit),
                     display(answer.ci95->high, answer.unit));
}

std::string range_text(const SolveQuestion& question) {
  return fmt::format("{} to {}", question.between[0], question.between[1]);
}

}  // namespace

std::string sentence(const SolveResult& result, const SolveAnswer& answer) {
  const SolveQuestion& question = result.question;
  if (answer.outcome == "cannot run") return answer.problem;
  const std::string there = display(answer.metric, answer.unit) + interval_text(answer);
  const std::string target = display(answer.target, answer.unit);
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
                       server ? ", by its samples (ten a decade)" : "", question.metric, there,
                       answer.display, bounded ? ", " : "", bound);
  }
  const std::string next = answer.next ? "; at " + next_text(answer) : "";
  return fmt::format("{} = {}: {} is {} (asked: {}){}{}{}", question.vary, answer.display,
                     question.metric, there, target, bounded ? ", " : "", bound, next);
}

std::string answer_text(const SolveAnswer& answer) {
  if (answer.outcome == "found") return answer.display;
  if (answer.outcome == "cannot run") return answer.outcome;
  const char* how_many = answer.metric <= answer.target ? "all" : "none";
  return answer.outcome == "flat" ? how_many : fmt::format("{}; at {}", how_many, answer.display);
}

std::string parts_text(const std::vector<std::array<std::string, 2>>& holding) {
  if (holding.size() < 2) return "";
  std::string out;
  for (std::size_t i = 0; i < holding.size(); ++i) {
    const auto& [from, to] = holding[i];
    out += (i == 0                    ? ""
            : i + 1 == holding.size() ? " and "
                                      : ", ") +
           (from == to ? from : fmt::format("{} to {}", from, to));
  }
  return out;
}

std::string left_out_text(const SolveAnswer& answer) {
  if (answer.left_out.empty()) return "";
  return fmt::format("searched {} to {}; {}", answer.searched[0], answer.searched[1],
                     answer.left_out);
}

Table table_of(const SolveResult& result) {
  const SolveQuestion& question = result.question;
  const std::string title = column_of(question.metric, nullptr).title;
  const bool whole = std::ranges::any_of(
      result.answers, [](const SolveAnswer& answer) { return answer.next.has_value(); });
  Table table{
      .title = fmt::format("{} ({} from {})", question.title, question.vary, range_text(question)),
      .columns = {{.title = "method",
                   .align = Align::left,
                   .key = "variant",
                   .readers = question.variants.empty() ? Readers::programs : Readers::everyone},
                  {.title = "outcome", .readers = Readers::programs},
                  {.title = "answer", .key = question.vary},
                  {.title = title + " there", .key = question.metric},
                  {.title = title + " asked", .key = "target"},
                  {.title = "next to it",
                   .key = "next",
                   .readers = whole ? Readers::everyone : Readers::programs},
                  {.title = "next_" + question.metric, .readers = Readers::programs},
                  {.title = "runs", .readers = Readers::people},
                  {.title = "bounded by there", .align = Align::left, .key = "bounded_by"},
                  {.title = "problem", .readers = Readers::programs}}};
  for (const SolveAnswer& answer : result.answers) {
    const bool ran = answer.outcome != "cannot run";
    const auto shown = [&](const std::string& text) { return ran ? text : "-"; };
    const Cell next_value = answer.next ? Cell(answer.next->metric) : Cell();
    const std::string bound = answer.record ? answer.record->bounded_by : "";
    table.add({answer.label, answer.outcome, Cell(answer.value, answer_text(answer)),
               Cell(answer.metric, shown(display(answer.metric, answer.unit))),
               Cell(answer.target, shown(display(answer.target, answer.unit))),
               Cell(answer.next ? answer.next->value : "", answer.next ? next_text(answer) : "-"),
               next_value,
               Cell(std::int64_t{answer.evaluations}, shown(std::to_string(answer.evaluations))),
               Cell(bound, shown(answer.record ? bound : "-")), answer.problem});
    if (!ran) table.notes.push_back(answer.label + ": " + answer.problem);
    if (const std::string text = left_out_text(answer); !text.empty())
      table.notes.push_back(answer.label + ": " + text);
    if (!answer.monotone)
      table.notes.push_back(answer.label + ": not monotone over the range; others may exist");
  }
  table.notes.insert(table.notes.end(), question.notes.begin(), question.notes.end());
  return table;
}

}  // namespace tiersim
