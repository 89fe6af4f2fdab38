#pragma once
// Published tokens/s of servers under rising load, side by side, and the number of sequences that
// each of them holds. Data in reports/targets, one element for each source:
//
//   served_loads:
//     - id: sparse_offload.sglang_33075
//       servers: [{label: base, serving: serving/...}, {label: offloaded, serving: serving/...}]
//       loads: [{users: 1, tokens_per_s: [47.7, 44.1], running: [1, 1]}, ...]
//       cells: [{label: nominal, set: []}, ...]
//       seats: {printed: [6, 54], rooms: [{label: 0.7, set: [...]}, ...]}
//
// A source that measures steps names a scenario in place of a serving file, and one that prints no
// tokens/s has `ratios: [1.245]` in their place. One server alone has no ratios.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

struct LoadedServer {
  std::string label = {};     ///< as in ids
  std::string serving = {};   ///< file, relative to the configs folder
  std::string scenario = {};  ///< the same, instead: its decode steps alone
  std::vector<std::string> set = {};
};
void describe(Fields& f, LoadedServer& c);

/// One row of the published table; the lists are in the order of the servers.
struct ServedLoad {
  std::int64_t users = 0;
  std::vector<double> tokens_per_s = {};   ///< or ratios
  std::vector<double> ratios = {};         ///< of every server but the first, to the first
  std::vector<std::int64_t> running = {};  ///< sequences that decode at a time
  std::string why = {};                    ///< what is to be known of its printed numbers
  std::string label = {};                  ///< in ids and tables; empty: the number of users
  std::vector<std::string> set = {};       ///< settings on top of every server, as printed
  std::map<std::string, std::vector<std::string>> set_of = {};  ///< of one server, by its label

  std::string name() const { return label.empty() ? std::to_string(users) : label; }
  double printed_ratio(std::size_t server) const {
    return ratios.empty() ? tokens_per_s[server] / tokens_per_s[0] : ratios[server - 1];
  }
};
void describe(Fields& f, ServedLoad& c);

/// One choice of what the source leaves open.
struct OpenChoice {
  std::string label = {};
  std::vector<std::string> set = {};                            ///< settings on top of every server
  std::map<std::string, std::vector<std::string>> set_of = {};  ///< of one server, by its label
};
void describe(Fields& f, OpenChoice& c);

/// Sequences of full length that each server holds at most.
struct SeatTargets {
  std::vector<std::int64_t> printed = {};  ///< in the order of the servers
  std::vector<OpenChoice> rooms = {};      ///< declared rooms for weights and cache
};
void describe(Fields& f, SeatTargets& c);

struct ServedLoadTargets {
  std::string id = {};
  std::string where = {};
  double near = 0.15;        ///< relative distance at which a simulated value is near
  double near_first = 0.05;  ///< the same for the ratio at the first load, and for seats
  std::vector<LoadedServer> servers = {};  ///< the first is what the others are divided by
  std::vector<ServedLoad> loads = {};
  std::vector<OpenChoice> cells = {};  ///< the first is the nominal one
  std::optional<SeatTargets> seats = {};
  bool simulated_by_its_authors = false;  ///< the published numbers are no measurement
  std::vector<std::string> notes = {};

  /// False where the source prints ratios alone.
  bool prints_rates() const { return !loads.empty() && loads.front().ratios.empty(); }
};
void describe(Fields& f, ServedLoadTargets& c);

}  // namespace tiersim
