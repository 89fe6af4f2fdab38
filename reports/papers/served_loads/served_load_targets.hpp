#pragma once
// Published tokens/s of servers under rising load, side by side, and the number of sequences that
// each of them holds. Data in reports/targets:
//
//   served_loads:
//     id: sparse_offload.sglang_33075
//     servers: [{label: base, serving: serving/...}, {label: offloaded, serving: serving/...}]
//     loads: [{users: 1, tokens_per_s: [47.7, 44.1], running: [1, 1]}, ...]
//     cells: [{label: nominal, set: []}, ...]
//     seats: {printed: [6, 54], rooms: [{label: 0.7, set: [...]}, ...]}
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

struct LoadedServer {
  std::string label = {};    ///< as in ids
  std::string serving = {};  ///< file, relative to the configs folder
};
void describe(Fields& f, LoadedServer& c);

/// One row of the published table; the lists are in the order of the servers.
struct ServedLoad {
  std::int64_t users = 0;
  std::vector<double> tokens_per_s = {};
  std::vector<std::int64_t> running = {};  ///< sequences that decode at a time
  std::string why = {};                    ///< what is to be known of its printed numbers
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
  SeatTargets seats = {};
  std::vector<std::string> notes = {};
};
void describe(Fields& f, ServedLoadTargets& c);

}  // namespace tiersim
