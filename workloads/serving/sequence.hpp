#pragma once
// A request during its processing by a replica.
#include <cstddef>
#include <cstdint>

#include "workloads/serving/request.hpp"

namespace tiersim {

struct Sequence {
  Request request;
  std::size_t slot = 0;  ///< for its owner
  // Progress.
  /// Positions to read before the next token: the input, after a recompute also the generated
  /// tokens; 1 after an encoder.
  std::int64_t prompt = 0;
  std::int64_t cached = 0;     ///< positions with cached keys and values
  std::int64_t in_flight = 0;  ///< positions that unfinished iterations compute
  std::int64_t generated = 0;  ///< tokens of the answer
  bool ended = false;          ///< static batches keep it until all of them have ended
  // State.
  std::int64_t blocks = 0;         ///< its own blocks of the pool
  std::int64_t shared = 0;         ///< number of leading prefix blocks that it pins
  std::int64_t swapped = 0;        ///< blocks in the far tier
  bool runs = false;               ///< admitted
  std::int64_t moves = 0;          ///< moves of its blocks under way
  PrefixBlocks loads = {};         ///< shared blocks that its own moves load
  bool waits_for_prefix = false;   ///< others' moves load its shared blocks
  std::int64_t source = -1;        ///< replica that holds its prefilled cache
  std::int64_t source_blocks = 0;  ///< blocks held there
  std::int64_t source_shared = 0;
  // Measurements.
  /// Tokens of its prompt that the prefix cache had when it first ran.
  std::int64_t cached_tokens = 0;
  std::int64_t preemptions = 0;
  bool has_started = false;
  SimTime started{};
  SimTime first_token{};
  SimTime last_token{};

  bool loading() const { return moves > 0 || waits_for_prefix; }
  bool prefilling() const { return cached < prompt; }
  /// Positions that are cached or in flight.
  std::int64_t planned() const { return cached + in_flight; }
  bool is_done() const { return generated >= request.output_tokens; }
};

}  // namespace tiersim
