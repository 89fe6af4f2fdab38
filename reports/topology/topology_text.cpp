#include "reports/topology/topology_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/display.hpp"
#include "sim/base/text.hpp"
#include "sim/record/table_json.hpp"

namespace tiersim {
namespace {

Cell bandwidth_cell(Bandwidth b) {
  return {Cell::Value(static_cast<double>(b.in_base())), display(b)};
}

std::string words(std::string kind) {
  std::ranges::replace(kind, '_', ' ');
  return kind;
}

}  // namespace

std::string tables_json(const std::vector<Table>& tables) {
  std::string out = "{";
  for (const Table& table : tables)
    out +=
        fmt::format("{}\n  \"{}\": {}", out.size() > 1 ? "," : "", table.id, to_json(table, {}, 2));
  return out + "\n}\n";
}

std::vector<Table> topology_tables(const TopologyFacts& facts) {
  Table parts{.id = "parts", .title = "Parts", .columns = {{"part", Align::left}, {"number"}}};
  for (const auto& part : facts.parts) parts.add({words(part.name), part.count});
  Table cables{
      .id = "cables",
      .title = "Cables",
      .columns = {{"from", Align::left},
                  {"to", Align::left},
                  {"number"},
                  {"each way", Align::right, "bandwidth", "", "", "B/s"},
                  {"latency", Align::right, "latency_s", "", "", "s"},
                  {"all together", Align::right, "all", "", "", "B/s"}},
      .notes = {
          "Several cables between the same two parts count as one, with their rates added up."}};
  for (const auto& c : facts.cables)
    cables.add(
        {words(c.from),
         words(c.to),
         c.count,
         bandwidth_cell(c.each),
         Cell::quantity(to_seconds(c.latency), "s"),
         {Cell::Value(static_cast<double>(c.each.in_base()) * static_cast<double>(c.count)),
          display(static_cast<double>(c.each.in_base()) * static_cast<double>(c.count), "B/s")}});
  Table paths{.id = "paths",
              .title = "Two GPUs",
              .columns = {{"GPUs", Align::left},
                          {"links"},
                          {"bandwidth", Align::right, "bandwidth", "", "", "B/s"},
                          {"latency", Align::right, "latency_s", "", "", "s"},
                          {"path", Align::left}}};
  for (const auto& p : facts.paths)
    paths.add({p.name, p.links, bandwidth_cell(p.bandwidth),
               Cell::quantity(to_seconds(p.latency), "s"), join(p.over)});
  Table halves{.id = "bisection",
               .title = "Halves",
               .columns = {{"GPUs"},
                           {"nodes"},
                           {"GPUs of a domain", Align::right, "domain"},
                           {"bisection", Align::right, "bisection", "", "", "B/s"},
                           {"share of ports", Align::right, "bisection_share"}},
               .notes = {"The bisection is the most that one half of the GPUs can send to the "
                         "other. Its share is of what their own ports could send."}};
  halves.add(
      {facts.gpus,
       facts.nodes,
       facts.domain,
       bandwidth_cell(facts.bisection),
       {Cell::Value(facts.bisection_share), fmt::format("{:.0f} %", 100 * facts.bisection_share)}});
  return {std::move(parts), std::move(cables), std::move(paths), std::move(halves)};
}

}  // namespace tiersim
