#include "reports/papers/served_loads/served_load_targets.hpp"

#include <fmt/format.h>

#include "reports/papers/reproduce/labels.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kMostUsers = 4096;

void check_lengths(Fields& f, const ServedLoadTargets& c) {
  const auto check = [&](const std::string& path, std::size_t found) {
    f.check(found == c.servers.size(), path,
            fmt::format("has {} values for {} servers", found, c.servers.size()),
            "one for each, in their order");
  };
  for (std::size_t i = 0; i < c.loads.size(); ++i) {
    check(fmt::format("loads.{}.tokens_per_s", i), c.loads[i].tokens_per_s.size());
    check(fmt::format("loads.{}.running", i), c.loads[i].running.size());
    for (const double rate : c.loads[i].tokens_per_s)
      f.check(rate > 0, fmt::format("loads.{}.tokens_per_s", i), "are not all above 0");
    for (const std::int64_t running : c.loads[i].running)
      f.check(running >= 1 && running <= kMostUsers, fmt::format("loads.{}.running", i),
              fmt::format("are not all 1 to {}", kMostUsers));
  }
  check("seats.printed", c.seats.printed.size());
}

void check_labels(Fields& f, const std::string& list, const std::vector<OpenChoice>& choices,
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
  f.required("serving", c.serving, "Serving file, relative to the configs folder.");
}

void describe(Fields& f, ServedLoad& c) {
  f.doc("A load with the published tokens/s of every server.");
  f.required("users", c.users, "Requests at a time.", in_range(1, kMostUsers));
  f.required("tokens_per_s", c.tokens_per_s, "As printed, in the order of the servers.");
  f.required("running", c.running,
             "Sequences that decode at a time, as printed: an input of the simulation.");
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
  f.required("servers", c.servers, "The first is what the others are divided by.");
  f.required("loads", c.loads, "The published table.");
  f.required("cells", c.cells, "What the source leaves open; the first choice is the nominal one.");
  f.required("seats", c.seats, "The largest numbers of sequences.");
  f.optional("notes", c.notes, "Below the tables.");
  f.check(c.servers.size() >= 2, "servers", "are fewer than two", "one to compare with another");
  f.check(!c.loads.empty(), "loads", "are none", "one at least");
  f.check(!c.cells.empty(), "cells", "are none", "the nominal one at least");
  check_lengths(f, c);
  check_labels(f, "cells", c.cells, c.servers);
  check_labels(f, "seats.rooms", c.seats.rooms, c.servers);
}

}  // namespace tiersim
