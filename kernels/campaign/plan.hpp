// The plan of the measurements: rotation of inputs, number of rounds, order, and the hold-out.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tiersim::kernels::bench {

// The input sets that a cold timing rotates over. Together they touch five times L2, so that none
// of a set is left in L2 when it is used again. Where that takes too many sets or too much memory,
// as much is read between the rounds instead (flush).
struct Rotation {
  int sets = 1;
  bool flush = false;
};
constexpr int kMostSets = 64;          // a graph of 32 nodes uses each set at most once
constexpr double kMemoryShare = 0.6;   // of the device's memory, for all sets
constexpr double kRotatedBytes = 3e9;  // of all sets: making more takes longer than timing them
constexpr double kRotationOverL2 = 5;
// Throws std::runtime_error with the numbers where not even one set fits. touched_bytes: distinct
// bytes that one launch moves, which decide what stays in L2. set_bytes: memory of a set, which is
// larger where a launch picks rows of a table.
Rotation plan_rotation(std::int64_t touched_bytes, std::int64_t set_bytes, std::int64_t l2_bytes,
                       std::int64_t memory_bytes);

// Rounds of one case. A round replays one graph of every node count.
struct SamplePlan {
  int rounds = 0;
  std::vector<int> nodes;    // ascending, at least two
  bool over_budget = false;  // even the fewest rounds with the fewest nodes exceed the budget
};
struct SampleLimits {
  int rounds = 101;       // wanted
  int rounds_least = 11;  // lower limit for slow cases
  int nodes_most = 32;    // of a graph
};
// Uses node counts 1, 2, 4, ... as far as the wanted rounds stay in the budget, then fewer rounds.
// node_s: estimated time of one node. replay_s: overhead of a replay (flush, events).
SamplePlan plan_samples(double node_s, double replay_s, double budget_s, SampleLimits limits);

// A permutation of 0..count-1 from the seed, the same on every machine, unlike std::shuffle.
std::vector<int> shuffled(int count, std::uint64_t seed);

// The data of a case that the hold-out needs.
struct Held {
  std::string group;       // kernel and variant
  std::int64_t bytes = 0;  // size: first by bytes moved,
  std::int64_t flops = 0;  // then by FLOPs
  std::string name;
};
// The cases held out from the fit: in each group, ordered by size, every third and the largest. A
// group of one is kept for the fit.
std::vector<bool> hold_out(const std::vector<Held>& cases);

}  // namespace tiersim::kernels::bench
