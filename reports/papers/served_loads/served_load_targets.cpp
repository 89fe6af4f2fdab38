#include "reports/papers/served_loads/served_load_targets.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/reproduce/labels.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kMostUsers = 1'000'000;

bool all_above_0(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return value > 0; });
}

void check_lengths(Fields& f, const ServedLoadTargets& c) {
  const auto check = [&](const std::string& path, std::size_t found) {
    f.check(found == c.servers.size(), path,
            fmt::format("has {} values for {} servers", found, c.servers.size()),
            "one for each, in their order");
  };
  for (std::size_t i = 0; i < c.loads.size(); ++i) {
    const ServedLoad& load = c.loads[i];
    const std::string at = fmt::format("loads.{}.", i);
    const bool one_of_both = load.tokens_per_s.empty() != load.ratios.empty();
    f.check(one_of_both, at + "tokens_per_s",
            load.ratios.empty() ? "is missing, and so is ratios" : "cannot stand beside ratios",
            "give one of tokens_per_s and ratios");
    f.check(!one_of_both || load.ratios.empty() == c.prints_rates(), at + "ratios",
            "are given of some loads, and tokens_per_s of others", "the same for all loads");
    if (!load.tokens_per_s.empty()) check(at + "tokens_per_s", load.tokens_per_s.size());
    if (!load.ratios.empty())
      f.check(load.ratios.size() + 1 == c.servers.size(), at + "ratios",
              fmt::format("has {} values for {} servers", load.ratios.size(), c.servers.size()),
              "one for each but the first, in their order");
    if (!load.running.empty()) check(at + "running", load.running.size());
    f.check(all_above_0(load.tokens_per_s), at + "tokens_per_s", "are not all above 0");
    f.check(all_above_0(load.ratios), at + "ratios", "are not all above 0");
    f.check(std::ranges::all_of(
                load.running,
                [](std::int64_t running) { return running >= 1 && running <= kMostUsers; }),
            at + "running", fmt::format("are not all 1 to {}", kMostUsers));
  }
  if (c.seats) check("seats.printed", c.seats->printed.size());
}

template <class WithSettings>
void check_labels(Fields& f, const std::string& list, const std::vector<WithSettings>& choices,
                  const std::vector<LoadedServer>& servers) {
  for (std::size_t i = 0; i < choices.size(); ++i)
    for (const auto& [label, set] : choices[i].set_of)
      check_label(f, fmt::format("{}.{}.set_of.{}", list, i, label), label, servers,
                  [](const LoadedServer& one) { return one.label; });
}

}  // namespace

void describe(Fields& f, LoadedServer& c) {
  f.doc("One of the servers that are compared.");
  f.required("label", c.label, "As in ids.");
  f.optional("serving", c.serving, "Serving file, relative to the configs folder.");
  f.optional("scenario", c.scenario,
             "Scenario instead, relative to the configs folder: its decode steps alone.");
  f.optional("set", c.set, "Settings on top of the file, a.b=c.");
  f.check(c.serving.empty() != c.scenario.empty(), "serving",
          c.serving.empty() ? "is missing, and so is scenario" : "cannot stand beside scenario",
          "give one of serving and scenario");
}

void describe(Fields& f, ServedLoad& c) {
  f.doc("A load with the published tokens/s of every server.");
  f.required("users", c.users, "Requests at a time.", in_range(1, kMostUsers));
  f.optional("tokens_per_s", c.tokens_per_s, "As printed, in the order of the servers.");
  f.optional("ratios", c.ratios,
             "Instead: tokens/s of every server but the first over those of the first.");
  f.optional(
      "running", c.running,
      "Sequences that decode at a time, as printed: an input of the simulation. Left out, as "
      "many run as there are users, or as fit.");
  f.optional("label", c.label, "In ids and tables, where the number of users does not tell.");
  f.optional("set", c.set, "Settings on top of every server's file, such as a printed length.");
  f.optional("set_of", c.set_of, "Settings on top of one server's file, by its label.");
  f.optional("why", c.why, "Doubts about the printed numbers.");
}

void describe(Fields& f, OpenChoice& c) {
  f.doc("A choice of settings that the source leaves open, declared before it is run.");
  f.required("label", c.label, "Name in tables.");
  f.optional("set", c.set, "Settings on top of every server's file, a.b=c.");
  f.optional("set_of", c.set_of, "Settings on top of one server's file, by its label.");
}

void describe(Fields& f, SeatTargets& c) {
  f.doc("Sequences of full length that each server holds at most.");
  f.required("printed", c.printed, "In the order of the servers.");
  f.required("rooms", c.rooms, "Declared rooms for weights and cache.");
  f.check(!c.rooms.empty(), "rooms", "are none", "one at least");
}

void describe(Fields& f, ServedLoadTargets& c) {
  f.doc("Published tokens/s of servers under rising load, and the sequences that they hold.");
  f.required("id", c.id, "Path in the list of targets.");
  f.required("where", c.where, "Source, for readers.");
  f.optional("near", c.near, "Relative distance at which a simulated value is near.",
             in_range(0.0, 0.99));
  f.optional("near_first", c.near_first,
             "The same for the ratio at the first load and for the seats.", in_range(0.0, 0.99));
  f.required("servers", c.servers,
             "The first is what the others are divided by; one alone has rates.");
  f.required("loads", c.loads, "The published table.");
  f.required("cells", c.cells, "What the source leaves open; the first choice is the nominal one.");
  f.optional("seats", c.seats, "The largest numbers of sequences.");
  f.optional("simulated_by_its_authors", c.simulated_by_its_authors,
             "True where the published numbers come from a simulator and not from a machine.");
  f.optional("notes", c.notes, "Below the tables.");
  f.check(c.servers.size() >= 2 || (c.servers.size() == 1 && c.prints_rates()), "servers",
          "are fewer than two", "one to compare with another, or tokens_per_s of one");
  f.check(!c.loads.empty(), "loads", "are none", "one at least");
  f.check(!c.cells.empty(), "cells", "are none", "the nominal one at least");
  check_lengths(f, c);
  check_labels(f, "loads", c.loads, c.servers);
  check_labels(f, "cells", c.cells, c.servers);
  if (c.seats) check_labels(f, "seats.rooms", c.seats->rooms, c.servers);
  for (std::size_t i = 0; c.seats && i < c.servers.size(); ++i)
    f.check(c.servers[i].scenario.empty(), fmt::format("servers.{}.scenario", i),
            "holds no sequences, and seats are asked", "give serving, or leave out seats");
}

}  // namespace tiersim
