#include "reports/papers/served_loads/served_load_tables.hpp"

#include <cmath>

#include <fmt/format.h>

#include "reports/papers/served_loads/published_value.hpp"

namespace tiersim {
namespace {

Cell percent(double share) {
  return {share, fmt::format("{:+.1f} %", 100 * share)};
}
Cell number(double value, int decimals) {
  return {value, fmt::format("{:.{}f}", value, decimals)};
}

}  // namespace

Table load_table(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  Table table{.title = fmt::format("{}: tokens/s as printed and simulated, {}", t.where,
                                   t.cells.front().label),
              .columns = {{"users"}},
              .notes = t.notes};
  if (!t.loads.front().label.empty()) table.columns.front() = {"load", Align::left};
  const auto add = [&](const std::string& of, const std::string& title, const std::string& first) {
    table.columns.push_back({.title = first.empty() ? title : first, .key = of + ' ' + title});
  };
  for (const LoadedServer& server : t.servers) {
    add(server.label, "running", server.label + ":");
    if (t.prints_rates())
      for (const char* title : {"printed", "simulated", "error"}) add(server.label, title, "");
    else
      add(server.label, "simulated", "");
  }
  for (std::size_t s = 1; s < t.servers.size(); ++s) {
    const std::string of = t.servers[s].label + " / " + t.servers[0].label;
    add(of, "printed", of + ":");
    for (const char* title : {"simulated", "error"}) add(of, title, "");
    table.columns.push_back({"status", Align::left, "what it is"});
  }
  const bool one = t.servers.size() == 1;
  if (one) table.columns.push_back({"status", Align::left, "what it is"});
  for (std::size_t l = 0; l < t.loads.size(); ++l) {
    const ServedLoad& load = t.loads[l];
    Row row{load.label.empty() ? Cell(load.users) : Cell(load.label)};
    for (std::size_t s = 0; s < t.servers.size(); ++s) {
      const LoadRun& run = r.at(0, l, s);
      row.emplace_back(run.running);
      if (t.prints_rates()) row.push_back(number(load.tokens_per_s[s], 1));
      row.push_back(number(run.tokens_per_s, 1));
      if (t.prints_rates()) row.push_back(percent(published_rate(r, l, s).error(0)));
    }
    for (std::size_t s = 1; s < t.servers.size(); ++s) {
      const PublishedValue c = published_ratio(r, l, s);
      row.push_back(number(c.printed, 3));
      row.push_back(number(c.value(0), 3));
      row.push_back(percent(c.error(0)));
      row.emplace_back(c.status());
    }
    if (one) row.emplace_back(published_rate(r, l, 0).status());
    table.rows.push_back(std::move(row));
  }
  table.notes.emplace_back(
      "below the name of a server: sequences that decode at a time, an input where they are "
      "printed; prediction, explained, unexplained: see reports/papers/README.md");
  if (t.simulated_by_its_authors)
    table.notes.emplace_back("the printed numbers were simulated by their authors, not measured");
  return table;
}

Table cell_table(const ServedLoadResults& r) {
  const ServedLoadTargets& t = r.targets;
  Table table{.title = t.where + ": errors of tokens/s and of ratios in every declared cell",
              .columns = {{"cell", Align::left}},
              .notes = {"mean absolute error over the loads, and the ratio at the first and at the "
                        "last load"}};
  if (t.prints_rates())
    for (const LoadedServer& server : t.servers) table.columns.push_back({server.label});
  for (std::size_t s = 1; s < t.servers.size(); ++s) {
    table.columns.push_back({"ratio"});
    table.columns.push_back({"first ratio"});
    table.columns.push_back({"last ratio"});
  }
  const auto loads = static_cast<double>(t.loads.size());
  for (std::size_t c = 0; c < t.cells.size(); ++c) {
    Row row{t.cells[c].label};
    const auto mean = [&](const std::function<PublishedValue(std::size_t)>& of) {
      double sum = 0;
      for (std::size_t l = 0; l < t.loads.size(); ++l) sum += std::abs(of(l).error(c));
      return Cell(sum / loads, fmt::format("{:.1f} %", 100 * sum / loads));
    };
    for (std::size_t s = 0; t.prints_rates() && s < t.servers.size(); ++s)
      row.push_back(mean([&](std::size_t l) { return published_rate(r, l, s); }));
    for (std::size_t s = 1; s < t.servers.size(); ++s) {
      row.push_back(mean([&](std::size_t l) { return published_ratio(r, l, s); }));
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
  for (const std::int64_t seats : t.seats->printed) printed.emplace_back(seats);
  table.rows.push_back(std::move(printed));
  for (std::size_t room = 0; room < t.seats->rooms.size(); ++room) {
    Row row{t.seats->rooms[room].label};
    for (std::size_t s = 0; s < t.servers.size(); ++s) row.emplace_back(r.seats_at(room, s));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tiersim
