#include "workloads/llm/context_pieces.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// The first pieces are one position longer where they are not all equal.
PromptPiece piece(std::int64_t positions, std::int64_t pieces, std::int64_t at) {
  const std::int64_t longer = positions % pieces;
  return {positions / pieces * at + std::min(at, longer),
          positions / pieces + (at < longer ? 1 : 0)};
}

std::int64_t triangle(std::int64_t side) {
  return side * (side + 1) / 2;
}

}  // namespace

std::vector<PromptPiece> pieces_of(const ParallelConfig& parallel, std::int64_t positions,
                                   std::int64_t rank) {
  const std::int64_t pieces = parallel.context_pieces();
  TS_EXPECTS(rank >= 0 && rank < parallel.context_ranks(), rank);
  TS_EXPECTS(positions >= pieces, positions, pieces);
  std::vector<PromptPiece> out{piece(positions, pieces, rank)};
  if (parallel.is_zigzag()) out.push_back(piece(positions, pieces, pieces - 1 - rank));
  return out;
}

std::int64_t positions_of(const std::vector<PromptPiece>& pieces) {
  std::int64_t sum = 0;
  for (const PromptPiece& p : pieces) sum += p.count;
  return sum;
}

std::int64_t found_by(const ParallelConfig& parallel, std::int64_t found, std::int64_t rank) {
  return piece(found, parallel.context_ranks(), rank).count;
}

// The longer pieces come first: the first rank has one where any rank has, and under zigzag the
// last rank has two where any rank has.
std::int64_t most_positions(const ParallelConfig& parallel, std::int64_t positions) {
  const auto of = [&](std::int64_t rank) {
    return positions_of(pieces_of(parallel, positions, rank));
  };
  return std::max(of(0), of(parallel.context_ranks() - 1));
}

PiecePairs piece_pairs(const std::vector<PromptPiece>& queries,
                       const std::vector<PromptPiece>& keys) {
  PiecePairs out;
  std::int64_t last = -1;  // position that is read
  for (const PromptPiece& q : queries) {
    const std::int64_t before = out.pairs;
    for (const PromptPiece& k : keys) {
      if (k.first > q.first) continue;
      out.pairs += k.first == q.first ? triangle(q.count) : q.count * k.count;
      last = std::max(last, k.first);
    }
    if (out.pairs > before) out.queries += q.count;
  }
  for (const PromptPiece& k : keys)
    if (k.first <= last) out.keys += k.count;
  return out;
}

std::int64_t heaviest_rank(const ParallelConfig& parallel, std::int64_t positions) {
  std::pair<std::int64_t, std::int64_t> most{};
  std::int64_t heaviest = 0;
  for (std::int64_t rank = 0; rank < parallel.context_ranks(); ++rank) {
    const auto pieces = pieces_of(parallel, positions, rank);
    std::int64_t pairs = 0;
    for (const PromptPiece& p : pieces) pairs += triangle(p.end()) - triangle(p.first);
    const std::pair work{pairs, positions_of(pieces)};
    if (work < most) continue;
    most = work;
    heaviest = rank;
  }
  return heaviest;
}

}  // namespace tiersim
