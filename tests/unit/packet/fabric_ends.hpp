#pragma once
// The times at which messages of a packet fabric end.
#include <vector>

#include "hwmodels/packet/nvlink/fabric.hpp"

namespace tiersim::testing {

struct FabricEnds final : FabricListener {
  void on_done(Engine& engine, std::uint64_t tag) override {
    if (tag >= at.size()) at.resize(tag + 1);
    at[tag] = engine.now().time_since_epoch();
  }
  std::vector<Duration> at;             ///< by tag
  std::vector<FabricMessage> messages;  ///< of tests that post them later
};

}  // namespace tiersim::testing
