#pragma once
// The cut of a prompt over context ranks (ParallelConfig::context). Positions are cut into pieces
// as equal as can be; a rank has one of them (contiguous), or two: the r-th from the start and the
// r-th from the end (zigzag), with which every rank has the same number of pairs of a query and a
// key in each step of a ring. Sources: Llama 3 (arXiv:2407.21783, section 3.3.2), Striped Attention
// (arXiv:2311.09431), Context Parallelism for Scalable Million-Token Inference (arXiv:2411.01783,
// section 3.5.1).
#include <cstdint>
#include <vector>

#include "workloads/llm/parallel_config.hpp"

namespace tiersim {

/// Consecutive positions of a prompt.
struct PromptPiece {
  std::int64_t first = 0;
  std::int64_t count = 0;

  std::int64_t end() const { return first + count; }
  friend bool operator==(const PromptPiece&, const PromptPiece&) = default;
};

/// The pieces of one rank, in the order of their positions. Preconditions: 0 <= rank <
/// context_ranks(), and `positions` is at least context_pieces().
std::vector<PromptPiece> pieces_of(const ParallelConfig& parallel, std::int64_t positions,
                                   std::int64_t rank);
/// Number of positions of one rank.
std::int64_t positions_of(const std::vector<PromptPiece>& pieces);
/// Of positions that were cached before, those of one rank: as many on each of them, whichever they
/// are.
std::int64_t found_by(const ParallelConfig& parallel, std::int64_t found, std::int64_t rank);
/// Most positions that any rank has.
std::int64_t most_positions(const ParallelConfig& parallel, std::int64_t positions);

/// Pairs of a position of `queries` and one of `keys` that is not after it, and the positions of
/// either that have one.
struct PiecePairs {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t pairs = 0;
};
PiecePairs piece_pairs(const std::vector<PromptPiece>& queries,
                       const std::vector<PromptPiece>& keys);

/// The rank with the most pairs over the whole prompt under full attention, of those with the most
/// positions: the last one where all are equal.
std::int64_t heaviest_rank(const ParallelConfig& parallel, std::int64_t positions);

}  // namespace tiersim
