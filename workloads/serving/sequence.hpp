#pragma once
// A request while a replica works on it.
#include <cstddef>
#include <cstdint>

#include "workloads/serving/request.hpp"

namespace tiersim {

struct Sequence {
  Request request;
  std::size_t slot = 0;  ///< its owner's
  // what is done of it
  std::int64_t prompt = 0;     ///< positions to read before the next token: the input, and after a
                               ///< recompute what was generated as well; 1 after an encoder
  std::int64_t cached = 0;     ///< positions whose keys and values are there
  std::int64_t generated = 0;  ///< tokens of the answer
  bool ended = false;          ///< static batches keep it until all of them have
  // where it is
  std::int64_t blocks = 0;         ///< of the pool, its own
  std::int64_t shared = 0;         ///< leading prefix blocks that it has pinned
  std::int64_t swapped = 0;        ///< blocks in the far tier
  bool runs = false;               ///< admitted
  std::int64_t moves = 0;          ///< of its blocks, that are under way
  std::int64_t loads_from = 0;     ///< first of the shared ones that its own moves bring up
  bool waits_for_prefix = false;   ///< others' moves bring up what it shares
  std::int64_t source = -1;        ///< replica that holds its prefilled cache for it
  std::int64_t source_blocks = 0;  ///< there
  std::int64_t source_shared = 0;
  // for whoever measures
  std::int64_t cached_tokens = 0;  ///< of its prompt, found in the prefix cache when it first ran
  std::int64_t preemptions = 0;
  bool has_started = false;
  SimTime started{};
  SimTime first_token{};
  SimTime last_token{};

  bool loading() const { return moves > 0 || waits_for_prefix; }
  bool prefilling() const { return cached < prompt; }
  bool is_done() const { return generated >= request.output_tokens; }
};

}  // namespace tiersim
