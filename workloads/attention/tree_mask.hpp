#pragma once
// The mask between new positions that are nodes of a tree of drafts (workloads/llm/draft_tree.hpp).
#include <cstdint>

namespace tiersim {

/// Without rows the new positions of a sequence follow each other, and each sees those before it.
struct TreeMask {
  std::int64_t rows = 0;  ///< of new positions, and of drafts before them, that the mask covers
  std::int64_t kept = 0;  ///< pairs of a new position and one of these rows that it lets pass

  friend bool operator==(const TreeMask&, const TreeMask&) = default;
};

}  // namespace tiersim
