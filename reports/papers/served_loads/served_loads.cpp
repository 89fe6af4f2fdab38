#include "reports/papers/served_loads/served_loads.hpp"

#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/render/figure_svg.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

double error(double simulated, double printed) {
  return simulated / printed - 1;
}

/// A value in every choice beside the printed one.
struct Candidates {
  double printed = 0;
  double near = 0;
  std::function<double(std::size_t)> value = {};
  const std::vector<OpenChoice>* choices = nullptr;

  std::size_t closest() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < choices->size(); ++i)
      if (std::abs(error(value(i), printed)) < std::abs(error(value(best), printed))) best = i;
    return best;
  }
  bool is_near(std::size_t choice) const { return std::abs(error(value(choice), printed)) <= near; }
  std::string told(std::size_t choice) const {
    return fmt::format("'{}' gives {:.4g} ({:+.1f} %)", (*choices)[choice].label, value(choice),
                       100 * error(value(choice), printed));
  }
  std::string status() const {
    if (is_near(0)) return "prediction";
    return is_near(closest()) ? "explained" : "unexplained";
  }
};

TargetResult result_of(std::string id, const Candidates& c, std::string unit,
                       const std::string& why) {
  std::string told = why.empty() ? "" : why + "; ";
  told += fmt::format("{:+.1f} % in the nominal cell; closest of {} declared: {}",
                      100 * error(c.value(0), c.printed), c.choices->size(), c.told(c.closest()));
  return {.id = std::move(id),
          .reading = "paper",
          .paper = c.printed,
          .simulated = c.value(0),
          .unit = std::move(unit),
          .tolerance = c.near * c.printed,
          .status = c.status(),
          .why = std::move(told)};
}

Candidates rate(const ServedLoadResults& r, std::size_t load, std::size_t server) {
  return {.printed = r.targets.loads[load].tokens_per_s[server],
          .near = r.targets.near,
          .value = [&r, load, server](std::size_t c) { return r.at(c, load, server).tokens_per_s; },
          .choices = &r.targets.cells};
}

Candidates ratio(const ServedLoadResults& r, std::size_t load, std::size_t server) {
  const std::vector<double>& printed = r.targets.loads[load].tokens_per_s;
  return {.printed = printed[server] / printed[0],
          .near = load == 0 ? r.targets.near_first : r.targets.near,
          .value = [&r, load, server](std::size_t c) { return r.ratio(c, load, server); },
          .choices = &r.targets.cells};
}

Candidates seats(const ServedLoadResults& r, std::size_t server) {
  return {
      .printed = static_cast<double>(r.targets.seats.printed[server]),
      .near = r.targets.near_first,
      .value = [&r, server](std::size_t c) { return static_cast<double>(r.seats_at(c, server)); },
      .choices = &r.targets.seats.rooms};
}

// A wall in a room that the source does not state is never a prediction.
TargetResult seat_result(const ServedLoadResults& r, std::size_t server) {
  const Candidates c = seats(r, server);
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
                             r.targets.seats.rooms.size(), c.told(best))};
}

// True where one room gives what is printed of every server.
TargetResult all_seats_result(const ServedLoadResults& r) {
  double count = 0;
  std::string rooms;
  for (std::size_t room = 0; room < r.targets.seats.rooms.size(); ++room) {
    bool all = true;
    for (std::size_t s = 0; s < r.targets.servers.size(); ++s)
      all = all && (s == 0 ? seats(r, s).is_near(room)
                           : r.seats_at(room, s) >= r.targets.seats.printed[s]);
    if (!all) continue;
    ++count;
    rooms += fmt::format("{}'{}'", rooms.empty() ? "" : ", ", r.targets.seats.rooms[room].label);
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

Cell percent(double share) {
  return {share, fmt::format("{:+.1f} %", 100 * share)};
}
Cell number(double value, int decimals) {
  return {value, fmt::format("{:.{}f}", value, decimals)};
}

Table load_table(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  Table table{.title = fmt::format("{}: tokens/s as printed and simulated, {}", t.where,
                                   t.cells.front().label),
              .columns = {{"users"}},
              .notes = t.notes};
  const auto add = [&](const std::string& of, const std::string& title, const std::string& first) {
    table.columns.push_back({.title = first.empty() ? title : first, .key = of + ' ' + title});
  };
  for (const LoadedServer& server : t.servers) {
    add(server.label, "running", server.label + ":");
    for (const char* title : {"printed", "simulated", "error"}) add(server.label, title, "");
  }
  for (std::size_t s = 1; s < t.servers.size(); ++s) {
    const std::string of = t.servers[s].label + " / " + t.servers[0].label;
    add(of, "printed", of + ":");
    for (const char* title : {"simulated", "error"}) add(of, title, "");
    table.columns.push_back({"status", Align::left, "what it is"});
  }
  for (std::size_t l = 0; l < t.loads.size(); ++l) {
    const ServedLoad& load = t.loads[l];
    Row row{load.users};
    for (std::size_t s = 0; s < t.servers.size(); ++s) {
      const double simulated = r.at(0, l, s).tokens_per_s;
      row.emplace_back(load.running[s]);
      row.push_back(number(load.tokens_per_s[s], 1));
      row.push_back(number(simulated, 1));
      row.push_back(percent(error(simulated, load.tokens_per_s[s])));
    }
    for (std::size_t s = 1; s < t.servers.size(); ++s) {
      const Candidates c = ratio(r, l, s);
      row.push_back(number(c.printed, 3));
      row.push_back(number(c.value(0), 3));
      row.push_back(percent(error(c.value(0), c.printed)));
      row.emplace_back(c.status());
    }
    table.rows.push_back(std::move(row));
  }
  table.notes.emplace_back(
      "below the name of a server: sequences that decode at a time, as printed, an input; "
      "prediction, explained, "
      "unexplained: see reports/papers/README.md");
  return table;
}

Table cell_table(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  Table table{.title = t.where + ": errors of tokens/s and of ratios in every declared cell",
              .columns = {{"cell", Align::left}},
              .notes = {"mean absolute error over the loads, and the ratio at the first and at the "
                        "last load"}};
  for (const LoadedServer& server : t.servers) table.columns.push_back({server.label});
  for (std::size_t s = 1; s < t.servers.size(); ++s) {
    table.columns.push_back({"ratio"});
    table.columns.push_back({"first ratio"});
    table.columns.push_back({"last ratio"});
  }
  const auto loads = static_cast<double>(t.loads.size());
  for (std::size_t c = 0; c < t.cells.size(); ++c) {
    Row row{t.cells[c].label};
    const auto mean = [&](const std::function<Candidates(std::size_t)>& of) {
      double sum = 0;
      for (std::size_t l = 0; l < t.loads.size(); ++l) {
        const Candidates one = of(l);
        sum += std::abs(error(one.value(c), one.printed));
      }
      return Cell(sum / loads, fmt::format("{:.1f} %", 100 * sum / loads));
    };
    for (std::size_t s = 0; s < t.servers.size(); ++s)
      row.push_back(mean([&](std::size_t l) { return rate(r, l, s); }));
    for (std::size_t s = 1; s < t.servers.size(); ++s) {
      row.push_back(mean([&](std::size_t l) { return ratio(r, l, s); }));
      row.push_back(number(r.ratio(c, 0, s), 3));
      row.push_back(number(r.ratio(c, t.loads.size() - 1, s), 3));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table seat_table(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  Table table{.title = t.where + ": sequences of full length that fit",
              .columns = {{"room", Align::left}},
              .notes = {}};
  for (const LoadedServer& server : t.servers) table.columns.push_back({server.label});
  Row printed{"printed"};
  for (const std::int64_t seats : t.seats.printed) printed.emplace_back(seats);
  table.rows.push_back(std::move(printed));
  for (std::size_t room = 0; room < t.seats.rooms.size(); ++room) {
    Row row{t.seats.rooms[room].label};
    for (std::size_t s = 0; s < t.servers.size(); ++s) row.emplace_back(r.seats_at(room, s));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Printed and simulated tokens/s of every server, and their ratio, over the users.
ReportFile figure(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  Figure out{.title = t.where,
             .subtitle = "as printed and as simulated in the nominal cell",
             .columns = 2,
             .panels = {}};
  FigurePanel rates{
      .title = "tokens/s", .x = {.label = "users", .log_base = 2}, .y = {.label = "tokens/s"}};
  FigurePanel ratios{.title = "over " + t.servers.front().label,
                     .x = {.label = "users", .log_base = 2},
                     .y = {.label = "ratio"}};
  for (const bool simulated : {false, true})
    for (std::size_t s = 0; s < t.servers.size(); ++s) {
      const std::string name = t.servers[s].label + (simulated ? ", simulated" : ", printed");
      FigureSeries of_rate{.name = name, .points = {}};
      FigureSeries of_ratio{.name = name, .points = {}};
      for (std::size_t l = 0; l < t.loads.size(); ++l) {
        const auto users = static_cast<double>(t.loads[l].users);
        const std::vector<double>& printed = t.loads[l].tokens_per_s;
        of_rate.points.push_back(
            {.x = users, .y = simulated ? r.at(0, l, s).tokens_per_s : printed[s]});
        of_ratio.points.push_back(
            {.x = users, .y = simulated ? r.ratio(0, l, s) : printed[s] / printed[0]});
      }
      rates.series.push_back(std::move(of_rate));
      if (s > 0) ratios.series.push_back(std::move(of_ratio));
    }
  out.panels = {std::move(rates), std::move(ratios)};
  number_styles(out);
  return {"loads.svg", to_svg(out)};
}

Json to_json(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  Json out{{"cells", Json::array()}, {"seats", Json::array()}};
  for (std::size_t c = 0; c < t.cells.size(); ++c)
    for (std::size_t l = 0; l < t.loads.size(); ++l)
      for (std::size_t s = 0; s < t.servers.size(); ++s) {
        const LoadRun& run = r.at(c, l, s);
        out["cells"].push_back({{"cell", t.cells[c].label},
                                {"users", t.loads[l].users},
                                {"server", t.servers[s].label},
                                {"running", t.loads[l].running[s]},
                                {"paper_tokens_per_s", t.loads[l].tokens_per_s[s]},
                                {"tokens_per_s", run.tokens_per_s},
                                {"inter_token_latency_s", run.gap_s},
                                {"batch", run.running},
                                {"ratio", r.ratio(c, l, s)}});
      }
  for (std::size_t room = 0; room < t.seats.rooms.size(); ++room)
    for (std::size_t s = 0; s < t.servers.size(); ++s)
      out["seats"].push_back({{"room", t.seats.rooms[room].label},
                              {"server", t.servers[s].label},
                              {"printed", t.seats.printed[s]},
                              {"sequences", r.seats_at(room, s)}});
  return out;
}

}  // namespace

ReportSection section_of(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  ReportSection section{.id = t.id};
  section.add("loads", load_table(r), true);
  section.add("cells", cell_table(r), true);
  section.add("seats", seat_table(r), true);
  for (std::size_t l = 0; l < t.loads.size(); ++l)
    for (std::size_t s = 0; s < t.servers.size(); ++s)
      section.results.push_back(result_of(
          fmt::format("{}.tokens_per_s.{}.{}", t.id, t.servers[s].label, t.loads[l].users),
          rate(r, l, s), "tokens/s", t.loads[l].why));
  for (std::size_t l = 0; l < t.loads.size(); ++l)
    for (std::size_t s = 1; s < t.servers.size(); ++s)
      section.results.push_back(
          result_of(fmt::format("{}.ratio.{}.{}", t.id, t.servers[s].label, t.loads[l].users),
                    ratio(r, l, s), "ratio", t.loads[l].why));
  for (std::size_t s = 0; s < t.servers.size(); ++s) section.results.push_back(seat_result(r, s));
  section.results.push_back(all_seats_result(r));
  section.figures.push_back(figure(r));
  section.json = to_json(r).dump();
  return section;
}

}  // namespace tiersim
