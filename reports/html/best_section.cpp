#include "reports/html/best_section.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "reports/html/best_choice.hpp"
#include "reports/html/shown_metric.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kMostCells = 2000;
constexpr std::size_t kMostPanelsOfBest = 12;

const std::string& label_at(const LabelColumn& column, std::size_t label) {
  return column.labels[label];
}

// Columns that neither compete nor make cells, and vary.
std::vector<std::size_t> free_columns(const PointsView& view, const BestQuestion& question) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < view.columns.size(); ++c)
    if (c != question.best && std::ranges::find(question.by, c) == question.by.end() &&
        view.columns[c].varies())
      out.push_back(c);
  return out;
}

// "batch 64, method MAPLE"
std::string free_text(const PointsView& view, const std::vector<std::size_t>& columns,
                      std::size_t point) {
  std::string out;
  for (const std::size_t c : columns)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", view.columns[c].name,
                       shown_label(view.columns[c].labels[view.columns[c].at[point]]));
  return out;
}

// Combinations of the labels of `by`, as far as they are not too many.
std::size_t cell_count(const PointsView& view, const BestQuestion& question) {
  std::size_t out = 1;
  for (const std::size_t c : question.by)
    out = std::min(out * view.columns[c].labels.size(), kMostCells + 1);
  return out;
}

std::string names_of(const PointsView& view, const std::vector<std::size_t>& columns) {
  std::vector<std::string> names;
  for (const std::size_t c : columns) names.push_back(view.columns[c].name);
  return join(names, " and ");
}

// "Rubin, batch 64: 30100 [24100, 41300]. Equal: MI455X"
std::string best_text(const PointTable& table, const PointsView& view, const BestQuestion& question,
                      const std::vector<std::size_t>& free, const MetricColumn& metric,
                      const BestOfCell& cell) {
  if (cell.competitors.empty()) return "nothing fits";
  const LabelColumn& names = view.columns[question.best];
  const Competitor& best = cell.competitors.front();
  std::string out = shown_label(label_at(names, best.label));
  if (!free.empty()) out += ", " + free_text(view, free, best.point);
  out += ": " + shown_value(table, metric, best.point) + ".";
  std::vector<std::string> equal;
  for (std::size_t i = 1; i < cell.competitors.size(); ++i)
    if (cell.competitors[i].equals_best)
      equal.push_back(shown_label(label_at(names, cell.competitors[i].label)));
  return equal.empty() ? out : out + " Equal: " + join(equal) + '.';
}

// One row for each combination of all columns of `by` but the last, whose labels are the columns.
Table best_table(const PointTable& table, const PointsView& view, const BestQuestion& question,
                 const MetricColumn& metric, const std::vector<BestOfCell>& cells) {
  const LabelColumn& across = view.columns[question.by.back()];
  const std::vector<std::size_t> free = free_columns(view, question);
  Table out{
      .title = fmt::format("Best {} by {}", view.columns[question.best].name, shown_title(metric))};
  for (std::size_t b = 0; b + 1 < question.by.size(); ++b)
    out.columns.push_back({view.columns[question.by[b]].name, Align::left});
  if (question.by.size() == 1) out.columns.push_back({"", Align::left});
  for (const std::size_t label : across.order)
    out.columns.push_back(
        {fmt::format("{} {}", across.name, shown_label(across.labels[label])), Align::left});
  for (std::size_t i = 0; i < cells.size(); i += across.labels.size()) {
    std::vector<std::string> row;
    for (std::size_t b = 0; b + 1 < question.by.size(); ++b)
      row.push_back(shown_label(label_at(view.columns[question.by[b]], cells[i].labels[b])));
    if (question.by.size() == 1) row.emplace_back("best");
    for (std::size_t k = 0; k < across.labels.size(); ++k)
      row.push_back(best_text(table, view, question, free, metric, cells[i + k]));
    out.add(std::move(row));
  }
  return out;
}

std::optional<std::size_t> first_objective(const PointsView& view) {
  return view.objective_metrics.empty() ? std::nullopt : std::optional(view.objective_metrics[0]);
}

// Points with an answer, by the cell of their labels and by the label that competes; in the order
// of their positions.
using Answers =
    std::map<std::pair<std::vector<std::size_t>, std::size_t>, std::vector<std::size_t>>;
Answers answers_of(const PointTable& table, const PointsView& view, const BestQuestion& question) {
  Answers out;
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    if (!table.points[p].answer) continue;
    std::vector<std::size_t> labels;
    for (const std::size_t c : question.by) labels.push_back(view.columns[c].at[p]);
    out[{std::move(labels), view.columns[question.best].at[p]}].push_back(p);
  }
  return out;
}

// "H200 + CXL against H200 (sm.to_gpu, now 35.2 GB/s)"
std::string asked_text(const std::string& label, const BreakEvenRecord& answer) {
  std::string out = fmt::format("{} against {}", label, answer.reference);
  if (answer.channel_bytes_per_s)
    out +=
        fmt::format(" ({}, now {})", answer.channel, display(*answer.channel_bytes_per_s, "B/s"));
  return out;
}

// The answers of cells that differ in the last column of `by` only: a row for each label.
Table break_even_table(const PointTable& table, const PointsView& view,
                       const BestQuestion& question, const std::vector<BestOfCell>& cells,
                       std::size_t begin, const Answers& answers) {
  const LabelColumn& across = view.columns[question.by.back()];
  const LabelColumn& names = view.columns[question.best];
  const std::vector<std::size_t> free = free_columns(view, question);
  Table out{.title = "Break-even", .columns = {{names.name, Align::left}}};
  for (const std::size_t label : across.order)
    out.columns.push_back(
        {fmt::format("{} {}", across.name, shown_label(across.labels[label])), Align::left});
  for (const std::size_t label : names.order) {
    std::string head;
    std::vector<std::string> row{""};
    for (std::size_t k = 0; k < across.order.size(); ++k) {
      std::string text;
      const auto there = answers.find({cells[begin + k].labels, label});
      if (there != answers.end())
        for (const std::size_t p : there->second) {
          const BreakEvenRecord& answer = *table.points[p].answer;
          if (head.empty() || answer.channel_bytes_per_s)
            head = asked_text(shown_label(names.labels[label]), answer);
          const std::string at = free.empty() ? "" : free_text(view, free, p) + ": ";
          text += (text.empty() ? "" : "; ") + at + break_even_text(answer);
        }
      row.push_back(text);
    }
    if (head.empty()) continue;
    for (std::string& text : row)
      if (text.empty()) text = "no result";
    row.front() = head;
    out.add(std::move(row));
  }
  return out;
}

// All competitors of the cells from `begin` to `end`, in the order of their labels.
Table details_table(const PointTable& table, const PointsView& view, const BestQuestion& question,
                    const std::vector<BestOfCell>& cells, std::size_t begin, std::size_t end,
                    std::vector<std::pair<bool, bool>>& marks) {
  const std::vector<std::size_t> free = free_columns(view, question);
  const LabelColumn& names = view.columns[question.best];
  Table out{.title = "All of them",
            .columns = {{view.columns[question.by.back()].name}, {names.name, Align::left}}};
  for (const std::size_t c : free) out.columns.push_back({view.columns[c].name});
  for (const std::size_t m : view.objective_metrics)
    out.columns.push_back({shown_title(view.metrics[m])});
  for (std::size_t i = begin; i < end; ++i) {
    const std::string& last = label_at(view.columns[question.by.back()], cells[i].labels.back());
    for (const std::size_t label : names.order) {
      const auto there = std::ranges::find(cells[i].competitors, label, &Competitor::label);
      if (there == cells[i].competitors.end()) continue;
      std::vector<std::string> row{shown_label(last), shown_label(names.labels[label])};
      for (const std::size_t c : free)
        row.push_back(shown_label(view.columns[c].labels[view.columns[c].at[there->point]]));
      for (const std::size_t m : view.objective_metrics)
        row.push_back(shown_value(table, view.metrics[m], there->point));
      marks.emplace_back(there == cells[i].competitors.begin(), there->equals_best);
      out.add(std::move(row));
    }
  }
  return out;
}

void add_details(Page& page, const PointTable& table, const PointsView& view,
                 const BestQuestion& question, const std::vector<BestOfCell>& cells,
                 const Answers& answers) {
  const std::size_t across = view.columns[question.by.back()].labels.size();
  const std::size_t free = free_columns(view, question).size();
  for (std::size_t i = 0; i < cells.size(); i += across) {
    std::vector<std::string> labels;
    for (std::size_t b = 0; b + 1 < question.by.size(); ++b)
      labels.push_back(shown_label(label_at(view.columns[question.by[b]], cells[i].labels[b])));
    std::vector<std::pair<bool, bool>> marks;
    Table all = details_table(table, view, question, cells, i, i + across, marks);
    all.title = labels.empty() ? "All" : join(labels);
    page.begin_details(all.title);
    if (const Table even = break_even_table(table, view, question, cells, i, answers);
        !even.rows.empty())
      page.table(even, {.sortable = false, .narrow = true});
    page.table(all, {.row_headers = false, .mark = [&](std::size_t r, std::size_t c) {
                       if (c != 2 + free || !marks[r].second) return std::string_view();
                       return std::string_view("good");
                     }});
    page.end_details();
  }
}

// True where the setting is a factor, which is 1 in the files.
bool is_factor(const PointTable& table) {
  return table.break_even && table.break_even->key.starts_with("what_if.");
}
bool is_drawn(const PointTable& table) {
  return std::ranges::any_of(
      table.points, [](const ReportPoint& point) { return point.answer && point.answer->ci95; });
}

// A value for an axis of numbers without a unit.
bool has_plain_value(const ReportPoint& point) {
  return point.answer && point.answer->value && point.answer->plain;
}

// One panel for each label of the first column of `by`; series are the labels that compete.
Figure break_even_figure(const PointTable& table, const PointsView& view,
                         const BestQuestion& question, const std::vector<BestOfCell>& cells,
                         const Answers& answers) {
  const LabelColumn& across = view.columns[question.by.back()];
  const LabelColumn& names = view.columns[question.best];
  Figure out{.stem = "break_even",
             .caption = std::string("Break-even") +
                        (is_drawn(table) ? " with its 95 % interval" : "") +
                        ", each at the last point that has a value" +
                        (is_factor(table) ? ": above the dashed line the setting must grow until "
                                            "the two are equal."
                                          : "."),
             .width = kDoubleColumn,
             .panel_height = 2.2,
             .columns = 2,
             .common_y = true};
  std::vector<std::size_t> asked;  // labels with a value
  for (const std::size_t label : names.order)
    for (std::size_t p = 0; p < table.points.size(); ++p)
      if (names.at[p] == label && has_plain_value(table.points[p])) {
        asked.push_back(label);
        break;
      }
  for (std::size_t i = 0; i < cells.size() && out.panels.size() < kMostPanelsOfBest;
       i += across.labels.size()) {
    FigurePanel panel{.x = {.label = across.name}, .y = {.label = "break-even", .log_base = 10}};
    for (std::size_t b = 0; b + 1 < question.by.size(); ++b)
      panel.title += (b > 0 ? ", " : "") +
                     shown_label(label_at(view.columns[question.by[b]], cells[i].labels[b]));
    for (std::size_t k = 0; k < across.order.size(); ++k)
      panel.x.ticks.emplace_back(static_cast<double>(k),
                                 shown_label(across.labels[across.order[k]]));
    panel.x.low = -0.5;
    panel.x.high = static_cast<double>(across.order.size()) - 0.5;
    bool any = false;
    for (std::size_t s = 0; s < asked.size(); ++s) {
      FigureSeries series{
          .name = shown_label(names.labels[asked[s]]), .mark = SeriesMark::points, .style = s};
      for (std::size_t k = 0; k < across.order.size(); ++k) {
        const auto there = answers.find({cells[i + k].labels, asked[s]});
        const BreakEvenRecord* answer = nullptr;
        if (there != answers.end())
          for (const std::size_t p : there->second)
            if (has_plain_value(table.points[p])) answer = &*table.points[p].answer;
        if (answer == nullptr) continue;
        const double shift = 0.8 / static_cast<double>(asked.size()) *
                             (static_cast<double>(s) - static_cast<double>(asked.size() - 1) / 2);
        FigurePoint point{.x = static_cast<double>(k) + shift, .y = *answer->value};
        point.set_interval(answer->ci95);
        series.points.push_back(point);
        any = true;
      }
      panel.series.push_back(std::move(series));
    }
    if (is_factor(table)) panel.limits.push_back({.y = 1, .label = "as it is"});
    if (any) out.panels.push_back(std::move(panel));
  }
  return out;
}

// "0.01 to 100"
std::string range_text(const PointTable& table) {
  for (const ReportPoint& point : table.points)
    if (point.answer && point.answer->shown.size() >= 2)
      return fmt::format("{} to {}", point.answer->shown[0], point.answer->shown[1]);
    else if (point.answer && point.answer->plain)
      return fmt::format("{:.3g} to {:.3g}", point.answer->low, point.answer->high);
  return "";
}

}  // namespace

std::string break_even_text(const BreakEvenRecord& answer) {
  const auto at = [&](double x) {
    if (!answer.shown.empty()) {
      const std::size_t interval = answer.value ? 3 : 2;  // place of its ends among the texts
      if (x == answer.low) return answer.shown[0];
      if (x == answer.high) return answer.shown[1];
      if (answer.value && x == *answer.value) return answer.shown[2];
      return answer.shown[interval + (x == answer.ci95->low ? 0 : 1)];
    }
    return answer.channel_bytes_per_s ? display(x * *answer.channel_bytes_per_s, "B/s")
                                      : fmt::format("{:.3g}", x);
  };
  const auto end = [&](double x) {
    if (x <= answer.low) return "below " + at(answer.low);
    return x >= answer.high ? "beyond " + at(answer.high) : at(x);
  };
  std::string interval;
  if (answer.ci95)
    interval = fmt::format(" [{}, {}]", end(answer.ci95->low), end(answer.ci95->high));
  // Every draw says what the best numbers say.
  if (answer.ci95 && answer.ci95->low == answer.ci95->high && !answer.value)
    interval = fmt::format(", in all {} draws", answer.draws);
  switch (answer.outcome) {
    case BreakEvenOutcome::found:
      return at(*answer.value) + interval +
             (answer.channel_bytes_per_s ? fmt::format(", {:.3g} times", *answer.value) : "");
    case BreakEvenOutcome::always:
      return fmt::format("always{}", interval);
    case BreakEvenOutcome::never:
      return fmt::format("never{}", interval);
    case BreakEvenOutcome::only:
      return fmt::format("{} does not fit", answer.reference);
    case BreakEvenOutcome::no_reference:
      return "nothing to compare with: " + answer.why;
    case BreakEvenOutcome::failed:
      return "not found: " + answer.why;
  }
  return "";
}

void add_best(Page& page, const PointTable& table, const PointsView& view) {
  const auto first = first_objective(view);
  if (!table.summary || !first) return;
  const BestQuestion& question = *table.summary;
  const std::string& name = view.columns[question.best].name;
  const std::vector<std::size_t> free = free_columns(view, question);
  page.section("Best " + name);
  page.text(fmt::format(
      "The best {} for each {}{}. Square brackets are the ends of a 95 % interval. Those whose "
      "intervals overlap that of the best are called equal, since the numbers behind them do not "
      "tell them apart.",
      name, names_of(view, question.by),
      free.empty() ? ""
                   : fmt::format(", each at the {} that suits it best", names_of(view, free))));
  if (cell_count(view, question) > kMostCells) {
    page.text(fmt::format("There are more than {} combinations, too many to show.", kMostCells));
    return;
  }
  for (std::size_t i = 0; i < view.objective_metrics.size(); ++i) {
    const std::size_t m = view.objective_metrics[i];
    const auto cells = best_of(table, view, question, m, view.objectives[i].maximize);
    page.table(best_table(table, view, question, view.metrics[m], cells),
               {.sortable = false, .narrow = true});
  }
}

void add_break_even(Page& page, const PointTable& table, const PointsView& view) {
  const auto first = first_objective(view);
  if (!table.summary || !first) return;
  const BestQuestion& question = *table.summary;
  if (cell_count(view, question) > kMostCells) return;  // add_best() said so
  const auto cells = best_of(table, view, question, *first, view.objectives[0].maximize);
  const std::vector<std::size_t> free = free_columns(view, question);
  const std::string at = free.empty()
                             ? ""
                             : fmt::format(" Each stands at the {} that is best for its {}.",
                                           names_of(view, free), shown_title(view.metrics[*first]));
  page.section(table.break_even ? "Each one, and its break-even" : "Each one");
  if (table.break_even)
    page.text(fmt::format(
        "Break-even is the value of {} at which {} equals that of the one that it is compared "
        "with.{} \"Never\": the other one is better at every value that was searched, {}; "
        "\"always\": it never is. Where the other one does not fit, there is nothing to equal.{}",
        table.break_even->key, table.break_even->metric,
        is_drawn(table) ? " Its interval comes from draws in which both have the same numbers, so "
                          "that what they share cancels out."
                        : "",
        range_text(table), at));
  else
    page.text("All that compete." + at);
  const Answers answers = answers_of(table, view, question);
  if (table.break_even) {
    const Figure figure = break_even_figure(table, view, question, cells, answers);
    if (!figure.panels.empty())
      page.figure({.svg = to_svg(figure), .caption = figure.caption, .id = "break-even"});
  }
  add_details(page, table, view, question, cells, answers);
}

}  // namespace tiersim
