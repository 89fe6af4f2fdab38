#pragma once
// Paged blocks of keys and values on one replica: the size of a block in each tier, and the number
// of blocks that fit. No number is guessed: from the part of the GPU's memory that may be filled
// (placement.near_share) are subtracted weights, the largest iteration's activations and workspace,
// the runtime's reserve and the method's state for each sequence that may run.
//
//   blocks = min over tiers of (tier - other contents) / bytes of a block in it
//
// If GPUs of a replica have sequences of their own (attention: data), a block is on one of them, or
// of the groups that attend together. The blocks of all GPUs are treated as one pool, with
// sequences spread as evenly as blocks allow.
//
// A block has what a sequence's first 64 blocks grow by. Staging and lists of a choice that stops
// growing, such as the 2048 rows of dsa or the 13 blocks of nsa, are set aside for every sequence
// that may run instead, at their largest.
//
// A method that keeps a number of rows near and spills the others (fetch.near_rows) has their bytes
// set aside, and as much more room in the far tier. What a tier is said to hold, and what a swap or
// a hand-over moves, counts them as spilled.
//
// A method that keeps only a part of the positions (a window, the most attended ones) has a largest
// number of blocks a sequence. If the method rounds positions, a block has their mean share. Of a
// model whose types of layers keep different numbers of positions, a block has the layers of a
// share of each type (block_group.hpp); a chunk counts as full, as engines free it when the next
// one begins. States of linear attention take whole blocks of the same pool, as in vLLM's hybrid
// manager of the cache, and move with them when a sequence is swapped or handed over. A copy of
// them that a prefix cache keeps takes as many.
#include "sim/base/expected.hpp"
#include "sim/record/serving_record.hpp"
#include "sim/serving/serving_config.hpp"
#include "sim/step/system.hpp"
#include "workloads/serving/block_group.hpp"

namespace tiersim {

struct KvLayout {
  std::int64_t block = 1;          ///< positions
  std::int64_t blocks = 0;         ///< in one replica
  std::int64_t gpus_of_block = 1;  ///< GPUs of the replica that hold a part of each block
  std::int64_t pools = 1;          ///< groups of gpus_of_block GPUs; a sequence is in one of them
  std::vector<BlockGroup> groups = {{}};  ///< blocks of one sequence of any length
  // by TierId, on one GPU
  std::vector<Bytes> block_bytes = {};   ///< size of a block, with the buffers that grow with it
  std::vector<Bytes> cached_bytes = {};  ///< the cached part of a block, which is worth a copy
  std::vector<Bytes> run_bytes = {};     ///< contiguous bytes when a block is copied
  std::vector<Bytes> left_over = {};     ///< free bytes beside all entries of `capacity`
  Bytes state_bytes = {};                ///< states of a sequence on one GPU; 0: not in the pool
  KvCapacity capacity = {};              ///< the same for people

  /// Size of a block whose whole cache lies in one tier: the far tier if its sequence is swapped
  /// out, or the tier below the pool for a block of a prefix. Over all GPUs that hold a part of it.
  Bytes gathered() const {
    Bytes sum;
    for (const Bytes bytes : cached_bytes) sum += bytes * gpus_of_block;
    return sum;
  }
  /// Number of blocks that hold `positions` of one sequence.
  std::int64_t blocks_of(std::int64_t positions) const {
    return tiersim::blocks_of(groups, block, positions);
  }
};

/// `system` is that of one replica. The error says what does not fit, or why the method cannot be
/// paged.
Expected<KvLayout> kv_layout(const ServingConfig& config, const System& system);

}  // namespace tiersim
