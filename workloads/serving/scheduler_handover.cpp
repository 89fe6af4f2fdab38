// Sequences whose cache comes from elsewhere: from a far tier, or from the replica that read the
// prompt.
#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim {

std::int64_t Scheduler::blocks_between(std::int64_t from, std::int64_t to) const {
  return blocks_of(limits_.groups, limits_.block, to) -
         blocks_of(limits_.groups, limits_.block, from);
}

bool Scheduler::reserve(Sequence& s, std::int64_t positions) {
  // Those that wait for blocks here come first.
  const auto waits = [](const Sequence* other) { return other->reserved == 0; };
  if (std::ranges::any_of(waiting_, waits)) return false;
  const auto present = running() + static_cast<std::int64_t>(expected_.size());
  if (present >= config_.scheduler.max_sequences || !is_promised(s)) return false;
  const std::int64_t blocks = blocks_between(0, positions);
  if (blocks == 0 || !has_room(blocks)) return false;
  std::vector<BlockMove> moves;
  const bool taken = pool_.take(blocks, moves);
  TS_INVARIANT(taken && moves.empty(), blocks);  // there are no prefixes that could leave
  s.reserved = blocks;
  expected_.push_back(&s);
  return true;
}

// Those whose whole cache is here decode in the iteration that is planned. All with a reservation
// stand at the front of the queue.
void Scheduler::admit_arrived() {
  if (expected_.empty()) return;
  Iteration none;
  for (auto at = waiting_.begin(); at != waiting_.end() && (*at)->reserved > 0 &&
                                   running() < config_.scheduler.max_sequences;) {
    Sequence& s = **at;
    if (s.source >= 0) {
      ++at;
      continue;
    }
    at = waiting_.erase(at);
    bring_back(s, none);
    s.runs = true;
    running_.push_back(&s);
  }
}

// Brings back blocks that were swapped out, or that another replica has filled.
bool Scheduler::bring_back(Sequence& s, Iteration& out) {
  if (s.reserved > 0) {
    std::erase(expected_, &s);
    s.blocks = std::exchange(s.reserved, 0);
    s.room = s.cached;
    s.moves = s.source >= 0 ? 1 : 0;  // it still comes
    return true;
  }
  const bool swapped = s.swapped > 0;
  const std::int64_t blocks = swapped ? s.swapped : blocks_for(s, s.cached);
  if (!has_room(blocks)) return false;
  std::vector<BlockMove> moves;
  pool_.take(blocks, moves);
  for (const BlockMove& move : moves) out.before.push_back({move, nullptr});
  s.blocks = blocks;
  s.room = s.cached;
  s.moves = 1;
  swapped_ -= s.swapped;
  s.swapped = 0;
  out.beside.push_back({{swapped ? MoveKind::swap_in : MoveKind::handover, blocks, 1, 0}, &s});
  return true;
}

void Scheduler::hand_over(Sequence& s) {
  if (limits_.gives_no_token) {  // the last position is the first one that the other decodes
    --s.cached;
    --s.prompt;
  }
  std::erase(running_, &s);
  s.runs = false;
  s.source_blocks = std::exchange(s.blocks, 0);
  s.source_shared = std::exchange(s.shared, 0);
  s.source_window = std::exchange(s.window, {});
}

void Scheduler::release(Sequence& s) {
  pool_.give(std::exchange(s.source_blocks, 0));
  pool_.release({prefix_of(s, std::exchange(s.source_shared, 0)), s.source_window});
  s.source_window.clear();
}

}  // namespace tiersim
