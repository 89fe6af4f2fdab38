#pragma once
// Paged blocks of keys and values on one replica: what a block takes of each tier, and how many
// fit. Nothing is guessed: the GPU's memory as far as it may be filled (placement.near_share), less
// weights, the largest iteration's activations and workspace, the runtime's reserve and what the
// method keeps for each of the sequences that may run.
//
//   blocks = min over tiers of (tier - what else is in it) / bytes of a block in it
//
// Where each GPU of a replica has sequences of its own (attention: data), a block is on one of
// them, and the blocks of all are taken as one pool: sequences as even as blocks allow.
//
// A method that keeps a part of the positions only (a window, the most attended ones) has a largest
// number of blocks a sequence. A block has the positions' mean share of what a method rounds.
#include "sim/base/expected.hpp"
#include "sim/record/serving_record.hpp"
#include "sim/serving/serving_config.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

struct KvLayout {
  std::int64_t block = 1;          ///< positions
  std::int64_t blocks = 0;         ///< of one replica
  std::int64_t gpus_of_block = 1;  ///< of the replica's GPUs, that have a part of each block
  std::int64_t pools = 1;          ///< groups of so many; a sequence is in one of them
  std::int64_t most_blocks = 0;    ///< of one sequence, however long; 0: no limit
  // by TierId, of one GPU
  std::vector<Bytes> block_bytes = {};   ///< what a block takes, buffers that grow with it included
  std::vector<Bytes> cached_bytes = {};  ///< of that, what is cached, and so worth a copy
  std::vector<Bytes> run_bytes = {};     ///< contiguous bytes when a block is copied
  std::vector<Bytes> left_over = {};     ///< of the tier, beside all that `capacity` lists
  KvCapacity capacity = {};              ///< the same for people

  /// What a block takes where all that is cached of it lies in one tier: in the far one when its
  /// sequence is swapped out, below the pool when it is of a prefix. Of all GPUs that have a part.
  Bytes gathered() const {
    Bytes sum;
    for (const Bytes bytes : cached_bytes) sum += bytes * gpus_of_block;
    return sum;
  }
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
