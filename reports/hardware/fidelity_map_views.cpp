// The fidelity map as numbers: costs of a simulation, JSON, rows for figures, and whole documents.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/hardware/fidelity_map_text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGiga = 1e9;

struct Costed {
  std::string_view workload;
  Fidelity level;
  std::string_view text;
};
constexpr std::array kCosted{
    Costed{"hbm.stream", Fidelity::packet, "HBM stack, reads in order"},
    Costed{"hbm.read-64b", Fidelity::packet, "HBM stack, random reads of 64 B"},
    Costed{"pcie.stream", Fidelity::packet, "PCI Express, reads in order"},
    Costed{"pcie.incast", Fidelity::packet, "PCI Express switch, 8 devices"},
    Costed{"cxl.stream", Fidelity::packet, "CXL, reads in order"},
    Costed{"cxl-dram.stream", Fidelity::packet, "CXL and DRAM behind it"},
    Costed{"nvlink.stream", Fidelity::packet, "NVLink, GPU to GPU"},
    Costed{"nvlink.read-64b", Fidelity::packet, "NVLink, random reads of 64 B"},
    Costed{"all-reduce.nccl-8m", Fidelity::packet, "8 GPUs, all-reduce of 8 MiB"},
    Costed{"pcie.incast", Fidelity::flow, "flows: PCI Express switch, 8 devices"},
    Costed{"nvlink.all-to-all", Fidelity::flow, "flows: 56 between 8 GPUs"},
};

const LevelRow* row_of(const FidelityMap& map, std::string_view id) {
  for (const LevelRow& row : map.rows)
    if (row.facts.id == id) return &row;
  return nullptr;
}

std::size_t index_of(Fidelity level) {
  return static_cast<std::size_t>(level);
}
std::string full(double value) {
  return fmt::format("{}", value);
}
// Two significant digits, or all digits of the whole part.
std::string rough(double value) {
  if (value <= 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(value))) + 1;
  return fmt::format("{:.{}f}", value, std::max(0, 2 - before));
}

std::vector<std::string> cost_cells(std::string_view text, Bytes simulated, std::uint64_t events,
                                    double ms) {
  const double giga = static_cast<double>(simulated.in_base()) / kGiga;
  return {std::string(text),
          fmt::format("{:.0f}", giga * 1e3),
          std::to_string(events),
          rough(static_cast<double>(events) / giga / 1e3),
          rough(ms),
          rough(ms / giga)};
}

Json case_json(const LevelRow& row, Fidelity level) {
  const LevelAnswer& answer = row.at(level);
  const double finest = row.at(Fidelity::packet).value;
  const bool held = row.facts.alike && level == Fidelity::flow;
  Json out{{"id", row.facts.id},
           {"group", row.facts.group},
           {"title", row.facts.title},
           {"level", kFidelityNames[index_of(level)]},
           {"predicted", answer.value},
           {"reference", finest},
           {"unit", row.facts.unit},
           {"error", row.error_of(level)},
           {"band", nullptr},
           {"status", level == Fidelity::packet ? "reference"
                      : !held                   ? "not held"
                      : row.agrees()            ? "within"
                                                : "outside"},
           {"events", answer.events},
           {"simulated_bytes", answer.simulated.in_base()},
           {"wall_ms", row.wall_ms[index_of(level)]}};
  if (held) out["band"] = {finest * (1 - kAlikeWithin), finest * (1 + kAlikeWithin)};
  if (level == Fidelity::flow && row.explained()) out["why"] = row.why;
  return out;
}

}  // namespace

Table cost_table(const FidelityMap& map) {
  Table table{.title = "Cost of a simulation",
              .columns = {{"model", Align::left},
                          {"simulated MB"},
                          {"events"},
                          {"events per MB"},
                          {"ms"},
                          {"ms per GB"}}};
  for (const Costed& costed : kCosted) {
    const LevelRow* row = row_of(map, costed.workload);
    if (row == nullptr) continue;
    const LevelAnswer& answer = row->at(costed.level);
    table.add(cost_cells(costed.text, answer.simulated, answer.events,
                         row->wall_ms[index_of(costed.level)]));
  }
  for (const Fidelity level : kFidelities) {
    LevelAnswer sum;
    double ms = 0;
    for (const LevelRow& row : map.rows) {
      sum.simulated += row.at(level).simulated;
      sum.events += row.at(level).events;
      ms += row.wall_ms[index_of(level)];
    }
    table.add(cost_cells(
        fmt::format("all {} workloads: {}", map.rows.size(), kFidelityNames[index_of(level)]),
        sum.simulated, sum.events, ms));
  }
  table.notes.emplace_back(
      "Times are of one run on one core and show the order of magnitude. Events are exact.");
  table.notes.emplace_back(
      "Simulated MB are the payload that one stack of an HBM moved, or that left the ports in an "
      "all-reduce. Events of a DRAM are its commands, which are no events of the engine. An NVLink "
      "fabric advances many packets in one event.");
  table.notes.emplace_back(
      "A flow takes the same few events at any size. Its cost for a GB therefore depends only on "
      "the size of these flows.");
  return table;
}

Table level_data(const FidelityMap& map) {
  Table table{.title = "",
              .columns = {{"id", Align::left},
                          {"group", Align::left},
                          {"title", Align::left},
                          {"unit", Align::left}}};
  for (const Fidelity level : kFidelities)
    table.columns.push_back({std::string(kFidelityNames[index_of(level)])});
  table.columns.insert(table.columns.end(),
                       {{"analytic_error"}, {"flow_error"}, {"held"}, {"packet_events"}});
  for (const LevelRow& row : map.rows) {
    std::vector<std::string> cells{row.facts.id, row.facts.group, row.facts.title, row.facts.unit};
    for (const Fidelity level : kFidelities) cells.push_back(full(row.at(level).value));
    cells.push_back(full(row.error_of(Fidelity::analytic)));
    cells.push_back(full(row.error_of(Fidelity::flow)));
    cells.emplace_back(row.facts.alike ? "1" : "0");
    cells.push_back(std::to_string(row.at(Fidelity::packet).events));
    table.add(std::move(cells));
  }
  return table;
}

std::string to_text(const FidelityMap& map) {
  std::string out = "Hardware: " + map.title + "\n\n";
  for (const Table& table : level_tables(map, ShownCosts::packet)) out += to_text(table) + '\n';
  out += to_text(cost_table(map)) + '\n';
  out +=
      "* marks the workloads with one bottleneck, 64 packets or more and no limit of credits or "
      "tags.\n";
  for (const std::string& line : summary_lines(map)) out += line + '\n';
  return out;
}

std::string to_markdown_page(const FidelityMap& map) {
  std::string out =
      R"(# Differences between the three levels of fidelity

`./tiersim validate levels -o out/levels` writes this page as the first part of
`out/levels/levels.md`, and the numbers of all workloads as `levels.csv`. The second part of
`levels.md` has a table of the workloads of each kind of hardware, with reasons and costs.

The analytic level computes each access alone, by a formula and without events. The flow level
shares the same costs by max-min fairness. The packet level simulates packets, commands and credits.
Errors are relative to the packet level, which is the finest level but a model too.
`./tiersim validate hardware` compares all three levels with measurements.

)" + fmt::format("Hardware: {}.\n\n", map.title);
  for (const std::string& line : summary_lines(map)) out += "- " + line + '\n';
  out += R"(
A `*` in the tables of `levels.md` marks the workloads with one bottleneck, 64 packets or more and
no limit of credits or tags. Flow must be within 2 % of packets there.
)";
  return out + '\n' + to_markdown(group_table(map));
}

std::string to_markdown(const FidelityMap& map) {
  std::string out = to_markdown_page(map);
  for (const Table& table : level_tables(map, ShownCosts::each)) out += '\n' + to_markdown(table);
  return out + '\n' + to_markdown(cost_table(map));
}

std::string to_json(const FidelityMap& map) {
  Json cases = Json::array();
  for (const LevelRow& row : map.rows)
    for (const Fidelity level : kFidelities) cases.push_back(case_json(row, level));
  Json summary{{"hardware", map.title}, {"outside", disagreeing(map)}};
  for (const Fidelity level : {Fidelity::analytic, Fidelity::flow}) {
    const LevelErrors errors = errors_of(map, level);
    Json& of = summary[std::string(kFidelityNames[index_of(level)])];
    of["median_error"] = errors.median;
    of["worst"] = errors.worst_first.empty() ? "" : errors.worst_first.front()->facts.id;
  }
  return Json{{"cases", std::move(cases)}, {"summary", std::move(summary)}}.dump() + '\n';
}

}  // namespace tiersim
