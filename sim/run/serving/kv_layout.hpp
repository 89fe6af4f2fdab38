#pragma once
// Paged blocks of keys and values on one replica: what a block takes of each tier, and how many
// fit. Nothing is guessed: the GPU's memory as far as it may be filled (placement.near_share), less
// weights, the largest iteration's activations and workspace, the runtime's reserve and what the
// method keeps for each of the sequences that may run.
//
//   blocks = min over tiers of (tier - what else is in it) / bytes of a block in it
//
// A method that keeps a part of the positions only (a window, the most attended ones) has a largest
// number of blocks a sequence. A block has the positions' mean share of what a method rounds.
#include "sim/base/expected.hpp"
#include "sim/run/serving/serving_config.hpp"
#include "sim/run/serving/serving_record.hpp"
#include "sim/run/system.hpp"

namespace tiersim {

struct KvLayout {
  std::int64_t block = 1;               ///< positions
  std::int64_t blocks = 0;              ///< of one replica
  std::int64_t most_blocks = 0;         ///< of one sequence, however long; 0: no limit
  std::vector<Bytes> block_bytes = {};  ///< by TierId, of one GPU
  std::vector<Bytes> run_bytes = {};    ///< by TierId: contiguous bytes when a block is copied
  KvCapacity capacity = {};             ///< the same for people

  /// Blocks that hold so many positions of one sequence.
  std::int64_t blocks_of(std::int64_t positions) const {
    const std::int64_t whole = (positions + block - 1) / block;
    return most_blocks > 0 && whole > most_blocks ? most_blocks : whole;
  }
};

/// `system` is that of one replica. The error is what does not fit, or why the method cannot be
/// paged.
Expected<KvLayout> kv_layout(const ServingConfig& config, const System& system);

}  // namespace tiersim
