#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/papers/early_exit/cell_view.hpp"
#include "sim/base/check.hpp"

namespace tiersim {

double ExitCellRuns::gpu_s(std::size_t correlation) const {
  TS_EXPECTS(!alone.empty());
  return static_cast<double>(users) / alone[std::min(correlation, alone.size() - 1)].tokens_per_s;
}

namespace {

using Json = nlohmann::ordered_json;

// Values by correlation: "1052 / 1054 / 1055".
std::string listed(const std::vector<ExitServed>& runs, int decimals) {
  std::string out;
  for (const ExitServed& run : runs)
    out += fmt::format("{}{:.{}f}", out.empty() ? "" : " / ", run.tokens_per_s, decimals);
  return out;
}
std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}
std::string correlations_text(const CellResults& r) {
  std::string out;
  for (const double c : r.targets.correlations)
    out += fmt::format("{}{}", out.empty() ? "" : " / ", c);
  return out;
}

std::string speedups(const CellView& v) {
  std::string out;
  for (std::size_t i = 0; i < v.at->own.size(); ++i)
    out += fmt::format("{}{:.3f}", i == 0 ? "" : " / ", v.simulated_speedup(i));
  return out;
}

std::string why_throughput(const CellResults& r, const CellView& v) {
  if (v.status == "input")
    return fmt::format(
        "sets the host's time for a sequence, {:.1f} us, of which nothing varies "
        "with the layers; the GPU has {:.2f} % of the step",
        1e6 * v.runs->host_sequence_s, 100 * v.gpu_share);
  std::string out = fmt::format(
      "speed-up over full: printed {:.3f}, simulated {} at correlation {}, at most {:.3f} with "
      "every decoder layer removed, which is {} of it",
      v.speedup(), speedups(v), correlations_text(r), v.bound / v.full->tokens_per_s,
      percent(v.explained));
  if (v.status == "prediction") out += "; near because the host is that of full";
  if (!v.cell->why.empty()) out += "; " + v.cell->why;
  return out;
}

TargetResult throughput_result(const CellResults& r, const CellView& v) {
  return {.id = v.id(r.targets.id, "throughput_tokens_per_s"),
          .reading = "paper",
          .paper = v.cell->tokens_per_s,
          .simulated = v.own().tokens_per_s,
          .unit = "tokens/s",
          .tolerance = v.status == "input" ? 0.005 : r.targets.near * v.cell->tokens_per_s,
          .status = v.status,
          .why = why_throughput(r, v)};
}

TargetResult latency_result(const CellResults& r, const CellView& v) {
  return {.id = v.id(r.targets.id, "inner_token_latency_s"),
          .reading = "paper",
          .paper = v.cell->latency_s,
          .simulated = v.own().latency_s,
          .unit = "s",
          .tolerance = 0.0005,
          .status = "consistency",
          .why = fmt::format("with {} sequences in flight as printed it is what tokens/s leave of "
                             "it; the GPU needs {:.1f} ms of it, the host would need {:.1f} ms",
                             v.at->users, 1e3 * v.gpu_s, 1e3 * v.host_s)};
}

TargetResult in_flight_result(const CellResults& r, const CellView& v) {
  return {.id = v.id(r.targets.id, "sequences_in_flight"),
          .reading = "paper",
          .paper = v.in_flight,
          .simulated = v.own().in_flight,
          .unit = "sequences",
          .tolerance = 0.5,
          .status = "consistency",
          .why =
              "printed tokens/s times printed latency, by Little's law; the users of the "
              "simulated loop are this number, rounded"};
}

// Number of counted cells near `tokens_per_s`, which one host time a sequence gives for all cells.
std::int64_t near_null(const CellResults& r, double tokens_per_s) {
  std::int64_t count = 0;
  for (const ExitModel& model : r.targets.models)
    for (std::size_t c = 1; c < model.cells.size(); ++c) {
      const ExitCell& cell = model.cells[c];
      if (cell.counted && std::abs(tokens_per_s / cell.tokens_per_s - 1) <= r.targets.near) ++count;
    }
  return count;
}

std::vector<TargetResult> host_results(const CellResults& r) {
  const auto& models = r.targets.models;
  const ExitCell& a = models[0].cells.front();
  const ExitCell& b = models[1].cells.front();
  const HostFit plain = host_through(a, 0, b, 0);
  const HostFit beside =
      host_through(a, r.models[0].cells.front().gpu_s(0), b, r.models[1].cells.front().gpu_s(0));
  const double stated = r.targets.evidence.intercept_ms;
  const bool as_stated = !plain.usable() && std::abs(1e3 * plain.intercept_s - stated) <= 0.5;
  std::vector<TargetResult> out{
      {.id = r.targets.id + ".host_fit.intercept",
       .reading = "first_principles",
       .paper = stated,
       .simulated = 1e3 * plain.intercept_s,
       .unit = "ms",
       .tolerance = 0.5,
       .status = as_stated ? "shape" : "fail",
       .why = fmt::format("failed fit, never used: t = a + b N through the two full cells has a = "
                          "{:.1f} ms, b = {:.3f} ms, and a = {:.1f} ms once the GPU's time is "
                          "taken off; {}",
                          1e3 * plain.intercept_s, 1e3 * plain.slope_s, 1e3 * beside.intercept_s,
                          r.targets.evidence.says)}};
  for (std::size_t m = 0; m < models.size(); ++m)
    out.push_back({.id = fmt::format("{}.host_fit.{}", r.targets.id, models[m].label),
                   .reading = "paper",
                   .paper = 1e3 / models[m].cells.front().tokens_per_s,
                   .simulated = 1e3 * r.models[m].host_sequence_s,
                   .unit = "ms",
                   .tolerance = 0,
                   .status = r.models[m].host_sequence_s >= 0 ? "input" : "fail",
                   .why =
                       "host time of a sequence with a = 0, from its full cell alone; paper: the "
                       "whole of its time a token"});
  const double null = 2 / (1 / a.tokens_per_s + 1 / b.tokens_per_s);
  const std::int64_t near = near_null(r, null);
  out.push_back({.id = r.targets.id + ".host_fit.near_without_early_exit",
                 .reading = "first_principles",
                 .paper = static_cast<double>(r.targets.evidence.near_null),
                 .simulated = static_cast<double>(near),
                 .unit = "cells",
                 .tolerance = 0,
                 .status = near == r.targets.evidence.near_null ? "shape" : "fail",
                 .why = fmt::format("one host time of {:.3f} ms a sequence for all and no early "
                                    "exit is {:.0f} tokens/s in every cell",
                                    1e3 / null, null)});
  return out;
}

// A condition counts where `full` itself is near, so that ratios are of a server like the paper's.
std::vector<TargetResult> headline_results(const CellResults& r,
                                           const std::vector<CellView>& views) {
  const ExitHeadline& h = r.targets.headline;
  double best = 0;
  double fastest = 0;
  const CellView* slowest = nullptr;
  const CellView* quickest = nullptr;
  for (const CellView& v : views) {
    if (v.status == "input" || !v.cell->counted) continue;
    for (std::size_t i = 0; i < v.at->own.size(); ++i)
      best = std::max(best, v.simulated_speedup(i));
    const double full_alone = v.runs->cells.front().alone.front().tokens_per_s;
    for (const ExitServed& run : v.at->alone)
      fastest = std::max(fastest, run.tokens_per_s / full_alone);
    if (quickest == nullptr || v.full->latency_s / v.cell->latency_s >
                                   quickest->full->latency_s / quickest->cell->latency_s)
      quickest = &v;
  }
  TS_EXPECTS(quickest != nullptr);
  for (const CellView& v : views)
    if (v.model == quickest->model && v.status == "input") slowest = &v;
  TS_EXPECTS(slowest != nullptr);
  const bool near = std::abs(best / h.throughput - 1) <= h.near;
  return {{.id = r.targets.id + ".headline.throughput",
           .reading = "paper",
           .paper = h.throughput,
           .simulated = best,
           .unit = "ratio",
           .tolerance = h.near * h.throughput,
           .status = near ? "explained" : "unexplained",
           .why = fmt::format("largest speed-up over all correlations with the host of the full "
                              "cells; the GPU alone reaches {:.2f} at most, but then full gives "
                              "many times the printed tokens/s, so that is no explanation",
                              fastest)},
          {.id = r.targets.id + ".headline.latency",
           .reading = "paper",
           .paper = h.latency,
           .simulated = slowest->own().latency_s / quickest->own().latency_s,
           .unit = "ratio",
           .tolerance = 0.005,
           .status = "consistency",
           .why = h.latency_says}};
}

Table throughput_table(const CellResults& r, const std::vector<CellView>& views) {
  Table table{.title = fmt::format("{}: tokens/s as printed and served (at correlation {})",
                                   r.targets.where, correlations_text(r)),
              .columns = {{"model", Align::left},
                          {"technique", Align::left},
                          {"paper"},
                          {"served, host of full"},
                          {"GPU alone"},
                          {"shipped host"},
                          {"speed-up"},
                          {"at most"},
                          {"status", Align::left, "what it is"}},
              .notes = r.targets.notes};
  for (const CellView& v : views)
    table.add({v.model->label, name_of(*v.cell), fmt::format("{:.2f}", v.cell->tokens_per_s),
               listed(v.at->own, 0), listed(v.at->alone, 0), listed(v.at->shipped, 0),
               fmt::format("{:.3f}", v.speedup()),
               fmt::format("{:.3f}", v.bound / v.full->tokens_per_s), v.status});
  table.notes.emplace_back(
      "at most: speed-up with every decoder layer removed and the host as it "
      "is; input, prediction, unexplained: see reports/README.md");
  return table;
}

Table evidence_table(const CellResults& r, const std::vector<CellView>& views) {
  Table table{.title = fmt::format("{}: what each cell would need", r.targets.where),
              .columns = {{"model", Align::left},
                          {"technique", Align::left},
                          {"latency, paper [ms]"},
                          {"served [ms]"},
                          {"in flight"},
                          {"layers run"},
                          {"GPU [ms]"},
                          {"GPU share"},
                          {"host needed [ms]"},
                          {"host / sequence [ms]"},
                          {"explained by layers"},
                          {"must scale with layers"}}};
  for (const CellView& v : views) {
    std::string layers;
    for (const ExitServed& run : v.at->own)
      layers += fmt::format("{}{:.1f}", layers.empty() ? "" : " / ", run.layers);
    table.add({v.model->label, name_of(*v.cell), fmt::format("{:.0f}", 1e3 * v.cell->latency_s),
               fmt::format("{:.0f}", 1e3 * v.own().latency_s), fmt::format("{:.1f}", v.in_flight),
               layers, fmt::format("{:.2f}", 1e3 * v.gpu_s), percent(v.gpu_share),
               fmt::format("{:.1f}", 1e3 * v.host_s),
               fmt::format("{:.3f}", 1e3 * v.host_s / v.in_flight), percent(v.explained),
               percent(v.scaling)});
  }
  table.notes = {
      "in flight: printed tokens/s times latency (Little's law); GPU: of a step of so many, "
      "prompts "
      "included, simulated alone; host needed: the rest of the printed latency",
      "explained by layers: of the printed speed-up, what no decoder layer at all would give; must "
      "scale with layers: share of full's step that would have to shrink with the layers skipped"};
  for (std::size_t m = 0; m < r.models.size(); ++m)
    table.notes.push_back(fmt::format(
        "{}: a decode step of all layers takes the GPU {:.2f} ms, {:.2f} of it in the decoder's "
        "layers",
        r.targets.models[m].label, 1e3 * r.models[m].step_s, 1e3 * r.models[m].layers_s));
  return table;
}

Json served(const std::vector<ExitServed>& runs, const std::vector<double>& correlations) {
  Json out = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Json run;
    if (runs.size() > 1) run["correlation"] = correlations[i];
    run["tokens_per_s"] = runs[i].tokens_per_s;
    run["latency_s"] = runs[i].latency_s;
    run["in_flight"] = runs[i].in_flight;
    run["layers"] = runs[i].layers;
    out.push_back(std::move(run));
  }
  return out;
}

Json to_json(const CellResults& r, const std::vector<CellView>& views) {
  Json cells = Json::array();
  for (const CellView& v : views) {
    Json cell{{"model", v.model->label},
              {"technique", name_of(*v.cell)},
              {"what", v.status},
              {"paper", {{"tokens_per_s", v.cell->tokens_per_s}, {"latency_s", v.cell->latency_s}}},
              {"in_flight", v.in_flight},
              {"host_of_full", served(v.at->own, r.targets.correlations)},
              {"gpu_alone", served(v.at->alone, r.targets.correlations)},
              {"shipped_host", served(v.at->shipped, r.targets.correlations)},
              {"gpu_step_s", v.gpu_s},
              {"gpu_share", v.gpu_share},
              {"host_needed_s", v.host_s},
              {"tokens_per_s_without_layers", v.bound}};
    cell["share_explained_by_layers"] = v.explained ? Json(*v.explained) : Json();
    cell["share_that_must_scale"] = v.scaling ? Json(*v.scaling) : Json();
    if (!v.cell->why.empty()) cell["why"] = v.cell->why;
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace

ReportSection section_of(const CellResults& results) {
  const std::vector<CellView> views = views_of(results);
  ReportSection section{.id = results.targets.id};
  section.add("cells", throughput_table(results, views), true);
  section.add("evidence", evidence_table(results, views), true);
  for (const CellView& v : views) section.results.push_back(throughput_result(results, v));
  for (const CellView& v : views) section.results.push_back(latency_result(results, v));
  for (const CellView& v : views) section.results.push_back(in_flight_result(results, v));
  for (const auto& more : {host_results(results), headline_results(results, views)})
    section.results.insert(section.results.end(), more.begin(), more.end());
  section.json = to_json(results, views).dump();
  return section;
}

}  // namespace tiersim
