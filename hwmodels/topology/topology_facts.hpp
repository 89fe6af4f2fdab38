#pragma once
// A summary of a topology: its parts, its cables, its bisection bandwidth and its longest path.
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

class Topology;

struct TopologyFacts {
  struct Parts {
    std::string name;  ///< "gpu", "leaf"
    std::int64_t count = 0;
  };
  struct Cables {
    std::string from, to;  ///< kinds of their ends
    std::int64_t count = 0;
    Bandwidth each;  ///< in one direction
    Duration latency;
  };
  /// The path between two GPUs of one domain, of one node, or the two that are farthest apart.
  struct Path {
    std::string name;
    std::int64_t links = 0;
    Bandwidth bandwidth;
    Duration latency;
    std::vector<std::string> over;  ///< names of the parts on it, both GPUs included
  };
  std::int64_t gpus = 0;
  std::int64_t nodes = 0;
  std::int64_t domain = 1;
  std::vector<Parts> parts;
  std::vector<Cables> cables;
  std::vector<Path> paths;
  /// Most that the first half of the GPUs can send to the second, in one direction; 0 for one GPU.
  Bandwidth bisection;
  /// The same over what these GPUs could send if nothing but their own ports limited them.
  double bisection_share = 0;
};

/// The bisection is a maximum flow (push and relabel), so it is exact; memory pools carry none.
TopologyFacts facts_of(const Topology& topology);

}  // namespace tiersim
