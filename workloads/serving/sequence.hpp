#pragma once
// A request during its processing by a replica.
#include <cstddef>
#include <cstdint>

#include "workloads/serving/prefix_parts.hpp"
#include "workloads/serving/request.hpp"

namespace tiersim {

struct Sequence {
  Request request;
  // Each iteration reads these, so they lie together.
  /// Positions to read before the next token: the input, after a recompute also the generated
  /// tokens; 1 after an encoder.
  std::int64_t prompt = 0;
  std::int64_t cached = 0;     ///< positions with cached keys and values
  std::int64_t in_flight = 0;  ///< positions that unfinished iterations compute
  std::int64_t generated = 0;  ///< tokens of the answer
  SimTime last_token{};
  std::int64_t blocks = 0;        ///< its own blocks of the pool
  std::int64_t shared = 0;        ///< number of leading prefix blocks that it pins
  std::int64_t room = 0;          ///< positions that its blocks were taken for
  std::int64_t moves = 0;         ///< moves of its blocks under way
  bool runs = false;              ///< admitted
  bool ended = false;             ///< static batches keep it until all of them have ended
  bool waits_for_prefix = false;  ///< others' moves load its shared blocks
  bool has_started = false;
  // The rest of its state.
  std::size_t slot = 0;            ///< for its owner
  std::int64_t swapped = 0;        ///< blocks in the far tier
  WindowParts window = {};         ///< stretches of windows that it pins, beside the shared blocks
  PrefixEntries loads = {};        ///< what its own moves load of these
  std::int64_t branch = 0;         ///< shared blocks at its admission, had their states been kept
  std::int64_t source = -1;        ///< replica that holds its prefilled cache
  std::int64_t source_blocks = 0;  ///< blocks held there
  std::int64_t source_shared = 0;
  WindowParts source_window = {};
  // Where its cache is sent while it is read (HandOverSend).
  std::int64_t reader = -1;       ///< replica that reads its prompt
  std::int64_t destination = -1;  ///< replica that has reserved blocks for it
  std::int64_t reserved = 0;      ///< blocks there, until it runs there
  std::int64_t sent = 0;          ///< leading positions whose cache has been sent, or is
  std::int64_t coming = 0;        ///< parts on their way
  // Measurements.
  /// Tokens of its prompt that the prefix cache had when it first ran.
  std::int64_t cached_tokens = 0;
  FoundIn cached_in = {};  ///< of these
  /// Those that lower tiers had and that it computed, since that was estimated to be faster.
  std::int64_t declined_tokens = 0;
  SimTime load_began{};  ///< of the prefix that it loads from lower tiers, if any
  Duration load_time{};  ///< until that was there, before its first token
  std::int64_t preemptions = 0;
  std::int64_t restarts = 0;  ///< replicas that failed while they had it
  SimTime started{};
  SimTime first_token{};

  bool loading() const { return moves > 0 || waits_for_prefix; }
  bool prefilling() const { return cached < prompt; }
  /// Positions that are cached or in flight.
  std::int64_t planned() const { return cached + in_flight; }
  bool is_done() const { return generated >= request.output_tokens; }
};

}  // namespace tiersim
