#include "reports/papers/served_loads/served_loads.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/papers/served_loads/published_value.hpp"
#include "reports/papers/served_loads/served_load_tables.hpp"
#include "reports/render/figure_svg.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

TargetResult result_of(std::string id, const PublishedValue& c, std::string unit,
                       const std::string& why) {
  std::string told = why.empty() ? "" : why + "; ";
  told += fmt::format("{:+.1f} % in the nominal cell; closest of {} declared: {}", 100 * c.error(0),
                      c.choices->size(), c.told(c.closest()));
  return {.id = std::move(id),
          .reading = "paper",
          .paper = c.printed,
          .simulated = c.value(0),
          .unit = std::move(unit),
          .tolerance = c.near * c.printed,
          .status = c.status(),
          .why = std::move(told)};
}

// A wall in a room that the source does not state is never a prediction.
TargetResult seat_result(const ServedLoadResults& r, std::size_t server) {
  const PublishedValue c = published_seats(r, server);
  const std::size_t best = c.closest();
  return {.id = fmt::format("{}.seats.{}", r.targets.id, r.targets.servers[server].label),
          .reading = "paper",
          .paper = c.printed,
          .simulated = c.value(best),
          .unit = "sequences",
          .tolerance = c.near * c.printed,
          .status = c.is_near(best) ? "explained" : "unexplained",
          .why = fmt::format("the source does not state the room of the pool; closest of {} "
                             "declared: {}",
                             r.targets.seats->rooms.size(), c.told(best))};
}

// True where one room gives what is printed of every server.
TargetResult all_seats_result(const ServedLoadResults& r) {
  double count = 0;
  std::string rooms;
  for (std::size_t room = 0; room < r.targets.seats->rooms.size(); ++room) {
    bool all = true;
    for (std::size_t s = 0; s < r.targets.servers.size(); ++s)
      all = all && (s == 0 ? published_seats(r, s).is_near(room)
                           : r.seats_at(room, s) >= r.targets.seats->printed[s]);
    if (!all) continue;
    ++count;
    rooms += fmt::format("{}'{}'", rooms.empty() ? "" : ", ", r.targets.seats->rooms[room].label);
  }
  return {.id = r.targets.id + ".seats.in_one_room",
          .reading = "first_principles",
          .paper = 1,
          .simulated = count,
          .unit = "rooms",
          .tolerance = 0,
          .status = count > 0 ? "explained" : "unexplained",
          .why = count > 0 ? "rooms that hold as many sequences as printed: " + rooms
                           : "no declared room limits the first server as printed and holds what "
                             "is printed of the others"};
}

// Printed and simulated values of every server over the users.
FigurePanel panel(const ServedLoadResults& r, bool of_ratios) {
  const ServedLoadTargets& t = r.targets;
  FigurePanel out{.title = of_ratios ? "over " + t.servers.front().label : "tokens/s",
                  .x = {.label = "users", .log_base = 2},
                  .y = {.label = of_ratios ? "ratio" : "tokens/s"}};
  for (const bool simulated : {false, true})
    for (std::size_t s = of_ratios ? 1 : 0; s < t.servers.size(); ++s) {
      FigureSeries series{.name = t.servers[s].label + (simulated ? ", simulated" : ", printed"),
                          .points = {}};
      for (std::size_t l = 0; l < t.loads.size(); ++l) {
        const PublishedValue of = of_ratios ? published_ratio(r, l, s) : published_rate(r, l, s);
        series.points.push_back({.x = static_cast<double>(t.loads[l].users),
                                 .y = simulated ? of.value(0) : of.printed});
      }
      out.series.push_back(std::move(series));
    }
  return out;
}

// There is no figure of fewer than three loads, nor of loads that are not numbers of users.
std::vector<ReportFile> figures(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  if (t.loads.size() < 3 || !t.loads.front().label.empty()) return {};
  Figure out{.title = t.where,
             .subtitle = "as printed and as simulated in the nominal cell",
             .columns = 2,
             .panels = {}};
  if (t.prints_rates()) out.panels.push_back(panel(r, false));
  if (t.servers.size() > 1) out.panels.push_back(panel(r, true));
  number_styles(out);
  return {{"loads.svg", to_svg(out)}};
}

Json to_json(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  Json out{{"simulated_by_its_authors", t.simulated_by_its_authors},
           {"cells", Json::array()},
           {"seats", Json::array()}};
  for (std::size_t c = 0; c < t.cells.size(); ++c)
    for (std::size_t l = 0; l < t.loads.size(); ++l)
      for (std::size_t s = 0; s < t.servers.size(); ++s) {
        const LoadRun& run = r.at(c, l, s);
        Json row{{"cell", t.cells[c].label}, {"users", t.loads[l].users}};
        if (!t.loads[l].label.empty()) row["load"] = t.loads[l].label;
        row["server"] = t.servers[s].label;
        row["running"] = run.running;
        if (t.prints_rates()) row["paper_tokens_per_s"] = t.loads[l].tokens_per_s[s];
        if (s > 0) row["paper_ratio"] = t.loads[l].printed_ratio(s);
        row["tokens_per_s"] = run.tokens_per_s;
        row["inter_token_latency_s"] = run.gap_s;
        row["batch"] = run.batch;
        row["ratio"] = r.ratio(c, l, s);
        out["cells"].push_back(std::move(row));
      }
  for (std::size_t room = 0; t.seats && room < t.seats->rooms.size(); ++room)
    for (std::size_t s = 0; s < t.servers.size(); ++s)
      out["seats"].push_back({{"room", t.seats->rooms[room].label},
                              {"server", t.servers[s].label},
                              {"printed", t.seats->printed[s]},
                              {"sequences", r.seats_at(room, s)}});
  return out;
}

void add_results(const ServedLoadResults& r, std::vector<TargetResult>& out) {
  const ServedLoadTargets& t = r.targets;
  const auto id = [&t](const char* what, std::size_t server, std::size_t load) {
    return fmt::format("{}.{}.{}.{}", t.id, what, t.servers[server].label, t.loads[load].name());
  };
  for (std::size_t l = 0; t.prints_rates() && l < t.loads.size(); ++l)
    for (std::size_t s = 0; s < t.servers.size(); ++s)
      out.push_back(
          result_of(id("tokens_per_s", s, l), published_rate(r, l, s), "tokens/s", t.loads[l].why));
  for (std::size_t l = 0; l < t.loads.size(); ++l)
    for (std::size_t s = 1; s < t.servers.size(); ++s)
      out.push_back(
          result_of(id("ratio", s, l), published_ratio(r, l, s), "ratio", t.loads[l].why));
  if (!t.seats) return;
  for (std::size_t s = 0; s < t.servers.size(); ++s) out.push_back(seat_result(r, s));
  out.push_back(all_seats_result(r));
}

}  // namespace

ReportSection section_of(const ServedLoadResults& r) {
  ReportSection section{.id = r.targets.id};
  section.add("loads", load_table(r), true);
  section.add("cells", cell_table(r), true);
  if (r.targets.seats) section.add("seats", seat_table(r), true);
  add_results(r, section.results);
  section.figures = figures(r);
  section.json = to_json(r).dump();
  return section;
}

}  // namespace tiersim
