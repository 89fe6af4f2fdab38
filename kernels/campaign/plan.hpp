// What is measured, how often, in which order, and what the fit must not see.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tiersim::kernels::bench {

// Input sets that a cold timing rotates over: what is touched of them is five times L2, so that
// nothing of a set is left in L2 when its turn comes again.
struct Rotation {
  int sets = 1;
  // The sets that fit the limit are too few: a read of five times L2 goes between the rounds.
  bool flush = false;
};
constexpr int kMostSets = 512;  // graphs of one node, one a set, are still made in well under 1 s
constexpr double kMemoryShare = 0.6;  // of the device's memory that sets may take
constexpr double kRotationOverL2 = 5;
// Throws std::runtime_error naming the numbers where even one set does not fit.
// touched_bytes: distinct bytes that one launch moves, which decide what L2 can keep; set_bytes:
// memory of a set, more where a launch picks rows of a table.
Rotation plan_rotation(std::int64_t touched_bytes, std::int64_t set_bytes, std::int64_t l2_bytes,
                       std::int64_t memory_bytes);

// Rounds of one case. A round replays a graph of every node count once.
struct SamplePlan {
  int rounds = 0;
  std::vector<int> nodes;    // ascending, at least two
  bool over_budget = false;  // even the fewest rounds with the fewest nodes take longer
};
struct SampleLimits {
  int rounds = 101;       // wanted
  int rounds_least = 11;  // slow cases take fewer, but not fewer than these
  int nodes_most = 32;    // of a graph
};
// Few nodes go before few rounds: 1, 2, 4, ... as far as the wanted rounds stay in the budget, then
// fewer rounds. node_s: time of one node, estimated; replay_s: what a replay costs besides (flush,
// events).
SamplePlan plan_samples(double node_s, double replay_s, double budget_s, SampleLimits limits);

// A permutation of 0..count-1 that the seed decides: the same on every machine (std::shuffle is
// not).
std::vector<int> shuffled(int count, std::uint64_t seed);

// A case as the hold-out sees it.
struct Held {
  std::string group;       // kernel and variant
  std::int64_t bytes = 0;  // its size: bytes moved,
  std::int64_t flops = 0;  // then FLOPs
  std::string name;
};
// Which cases the fit must not see: of every group in order of size, each third, and the largest. A
// group of one is kept for the fit.
std::vector<bool> hold_out(const std::vector<Held>& cases);

}  // namespace tiersim::kernels::bench
