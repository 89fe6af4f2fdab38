#include "reports/hardware/fidelity_map_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace tiersim {
namespace {

constexpr std::size_t kWorstNamed = 3;

// No sign for values that print as 0.
std::string signed_percent(double value) {
  const double tenths = std::round(1000 * value);
  return tenths == 0 ? "0.0 %" : fmt::format("{:+.1f} %", tenths / 10);
}

// Four digits without an exponent.
std::string four_digits(double value) {
  const int before = value >= 1 ? static_cast<int>(std::floor(std::log10(value))) + 1 : 1;
  return fmt::format("{:.{}f}", value, std::max(0, 4 - before));
}

std::string count_text(std::uint64_t count) {
  const auto value = static_cast<double>(count);
  if (value < 1e4) return std::to_string(count);
  return value < 1e6 ? fmt::format("{:.0f} k", value / 1e3) : fmt::format("{:.2f} M", value / 1e6);
}

std::string flow_error(const LevelRow& row) {
  return signed_percent(row.error_of(Fidelity::flow)) + (row.facts.alike ? " *" : "  ");
}

std::string group_title(const std::string& group) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTitles{{
      {"hbm", "GPU memory"},
      {"pcie", "PCI Express link"},
      {"cxl", "CXL link and pool"},
      {"cxl-dram", "CXL link with DRAM behind it"},
      {"nvlink", "NVLink ports and switch"},
      {"all-reduce", "All-reduce of 8 GPUs"},
      {"network", "Network adapters and switch"},
  }};
  for (const auto& [name, title] : kTitles)
    if (name == group) return std::string(title);
  return group;
}

void add_cost_columns(Table& table, ShownCosts costs) {
  if (costs == ShownCosts::packet)
    table.columns.insert(table.columns.end(), {{"events"}, {"ms"}});
  else
    table.columns.insert(table.columns.end(),
                         {{"events: flow"}, {"events: packet"}, {"ms: flow"}, {"ms: packet"}});
}

void add_cost_cells(std::vector<std::string>& cells, const LevelRow& row, ShownCosts costs) {
  const auto ms_of = [&](Fidelity level) { return row.wall_ms[static_cast<std::size_t>(level)]; };
  const std::string packets = count_text(row.at(Fidelity::packet).events);
  if (costs == ShownCosts::packet)
    cells.insert(cells.end(), {packets, fmt::format("{:.0f}", ms_of(Fidelity::packet))});
  else
    cells.insert(cells.end(), {count_text(row.at(Fidelity::flow).events), packets,
                               fmt::format("{:.2f}", ms_of(Fidelity::flow)),
                               fmt::format("{:.1f}", ms_of(Fidelity::packet))});
}

// Adds each reason with its workloads.
void add_reasons(Table& table, const std::vector<const LevelRow*>& rows) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const LevelRow* row : rows) {
    if (!row->explained()) continue;
    const auto same = std::ranges::find(reasons, row->why, &decltype(reasons)::value_type::first);
    if (same == reasons.end())
      reasons.emplace_back(row->why, row->facts.title);
    else
      same->second += "; " + row->facts.title;
  }
  for (const auto& [why, titles] : reasons)
    table.notes.push_back(fmt::format("{}: {}", titles, why));
}

std::string worst_text(const LevelErrors& errors, Fidelity level) {
  const LevelRow& worst = *errors.worst_first.front();
  return fmt::format("{}, {}", signed_percent(worst.error_of(level)), worst.facts.title);
}

std::vector<std::string> groups_of(const FidelityMap& map) {
  std::vector<std::string> groups;
  for (const LevelRow& row : map.rows)
    if (std::ranges::find(groups, row.facts.group) == groups.end())
      groups.push_back(row.facts.group);
  return groups;
}

std::string worst_line(const FidelityMap& map, Fidelity level) {
  const LevelErrors errors = errors_of(map, level);
  std::string out =
      fmt::format("{}: median {:.1f} % from packets, worst",
                  kFidelityNames[static_cast<std::size_t>(level)], 100 * errors.median);
  for (std::size_t i = 0; i < std::min(kWorstNamed, errors.worst_first.size()); ++i) {
    const LevelRow& row = *errors.worst_first[i];
    out += fmt::format("{} {} {}", i == 0 ? "" : ",", row.facts.id,
                       signed_percent(row.error_of(level)));
  }
  return out;
}

}  // namespace

LevelErrors errors_of(const FidelityMap& map, Fidelity level) {
  LevelErrors out;
  for (const LevelRow& row : map.rows) out.worst_first.push_back(&row);
  const auto magnitude = [&](const LevelRow* row) { return std::abs(row->error_of(level)); };
  std::ranges::stable_sort(out.worst_first, std::ranges::greater{}, magnitude);
  if (!out.worst_first.empty()) out.median = magnitude(out.worst_first[out.worst_first.size() / 2]);
  return out;
}

std::int64_t disagreeing(const FidelityMap& map) {
  return std::ranges::count_if(map.rows, [](const LevelRow& row) { return !row.agrees(); });
}

std::vector<std::string> summary_lines(const FidelityMap& map) {
  const auto held =
      std::ranges::count_if(map.rows, [](const LevelRow& row) { return row.facts.alike; });
  return {worst_line(map, Fidelity::analytic), worst_line(map, Fidelity::flow),
          fmt::format("{} workloads: flow is within {:.0f} % of packets in {} of the {} marked *",
                      map.rows.size(), 100 * kAlikeWithin, held - disagreeing(map), held)};
}

std::vector<Table> level_tables(const FidelityMap& map, ShownCosts costs) {
  std::vector<Table> tables;
  for (const std::string& group : groups_of(map)) {
    Table table{.title = group_title(group),
                .columns = {{"workload", Align::left},
                            {"unit", Align::left},
                            {"analytic"},
                            {"error"},
                            {"flow"},
                            {"error"},
                            {"packet"}}};
    add_cost_columns(table, costs);
    std::vector<const LevelRow*> rows;
    for (const LevelRow& row : map.rows) {
      if (row.facts.group != group) continue;
      rows.push_back(&row);
      std::vector<std::string> cells{row.facts.title,
                                     row.facts.unit,
                                     four_digits(row.at(Fidelity::analytic).value),
                                     signed_percent(row.error_of(Fidelity::analytic)),
                                     four_digits(row.at(Fidelity::flow).value),
                                     flow_error(row),
                                     four_digits(row.at(Fidelity::packet).value)};
      add_cost_cells(cells, row, costs);
      table.add(std::move(cells));
    }
    add_reasons(table, rows);
    tables.push_back(std::move(table));
  }
  return tables;
}

Table group_table(const FidelityMap& map) {
  Table table{.title = "",
              .columns = {{"hardware", Align::left},
                          {"workloads"},
                          {"analytic: median"},
                          {"worst", Align::left},
                          {"flow: median"},
                          {"worst", Align::left}}};
  for (const std::string& group : groups_of(map)) {
    FidelityMap own{.title = map.title, .rows = {}};
    std::ranges::copy_if(map.rows, std::back_inserter(own.rows),
                         [&](const LevelRow& row) { return row.facts.group == group; });
    std::vector<std::string> cells{group_title(group), std::to_string(own.rows.size())};
    for (const Fidelity level : {Fidelity::analytic, Fidelity::flow}) {
      const LevelErrors errors = errors_of(own, level);
      cells.push_back(fmt::format("{:.1f} %", 100 * errors.median));
      cells.push_back(worst_text(errors, level));
    }
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace tiersim
