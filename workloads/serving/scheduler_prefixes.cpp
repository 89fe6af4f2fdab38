// The prefixes of a scheduler's sequences: what each pins and shares, and the copies that are kept.
#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim {

// Takes the blocks of an admitted sequence. Copies of a state precede the iteration, and so do
// those that make room; loads run beside it.
void Scheduler::pin_prefix(Sequence& s, std::int64_t own, Iteration& out) {
  std::vector<BlockMove> moves;
  s.loads = pool_.pin(pins_of(s), moves);
  const bool taken = pool_.take(own, moves);
  TS_INVARIANT(taken, own, pool_.available());
  s.blocks = own;
  s.room = s.prompt;
  for (const BlockMove& move : moves) {
    const bool load = move.kind == MoveKind::prefix_load;
    const bool for_sequence = load || move.kind == MoveKind::state_load;
    (load ? out.beside : out.before).push_back({move, for_sequence ? &s : nullptr});
    if (load) ++s.moves;
  }
}

// Shares named blocks that are now whole. A block that the answer fills up is no prefix.
void Scheduler::share_computed(Sequence& s, std::int64_t before) {
  if (limits_.prefix_block == 0) return;
  const std::int64_t whole =
      std::min(std::min(s.cached, s.request.input_tokens) / limits_.prefix_block,
               static_cast<std::int64_t>(s.request.prefix.size()));
  if (whole <= s.shared) return;
  const std::span<const std::uint64_t> names = prefix_of(s, whole);
  WindowParts held;
  if (pool_.has_windows()) held = pool_.parts().between(names, s.shared, s.room, std::nullopt);
  const PrefixPins gained{names.subspan(static_cast<std::size_t>(s.shared)), held};
  pool_.share(gained);
  s.blocks -= pool_.blocks_of(gained);
  s.window.insert(s.window.end(), held.begin(), held.end());
  const std::int64_t shared = std::exchange(s.shared, whole);
  keep_copies(s, before, shared);
}

// Keeps stretches that a window has passed within this piece of the prompt, and states. No sequence
// counts on them, so they take what room is left.
void Scheduler::keep_copies(const Sequence& s, std::int64_t before, std::int64_t shared) {
  const PrefixParts& parts = pool_.parts();
  if (parts.has_windows()) {
    PrefixEntries passed;
    for (const WindowPart& part : parts.between(prefix_of(s, s.shared), shared, before, s.room))
      passed.push_back(parts.entry(part));
    pool_.keep(passed, room_for_copies(), later_);
  }
  if (parts.state_blocks() > 0) keep_states(states_to_keep(s, before));
}

// The blocks that copies may take: those that are available, and promised to no sequence.
std::int64_t Scheduler::room_for_copies() const {
  if (config_.kv.admission == Admission::prompt) return pool_.available();
  return std::min(pool_.available(), limits_.blocks - promised());
}

void Scheduler::keep_states(const PrefixEntries& states) {
  const std::int64_t kept = pool_.keep(states, room_for_copies(), later_);
  for (std::int64_t k = 0; k < kept; ++k)
    later_.push_back({MoveKind::state_store, pool_.parts().state_blocks(), 0, 0});
}

// A state that was loaded into the sequence's blocks is kept in the pool, too.
void Scheduler::keep_loaded_state(const Sequence& s) {
  if (s.shared > 0 && pool_.parts().state_blocks() > 0)
    keep_states({pool_.parts().state(prefix_of(s, s.shared).back())});
}

PrefixEntries Scheduler::states_to_keep(const Sequence& s, std::int64_t before) const {
  PrefixEntries out;
  const std::int64_t first = before / limits_.prefix_block;
  for (std::int64_t end = first + 1; end <= s.shared; ++end)
    if (limits_.states == KeptStates::all || end == s.shared || end == s.branch)
      out.push_back(pool_.parts().state(s.request.prefix[static_cast<std::size_t>(end) - 1]));
  return out;
}

// Gives up the stretches that the sequence's window has left, or that are of an earlier chunk.
void Scheduler::slide(Sequence& s, std::int64_t before) {
  const PrefixParts* parts = s.window.empty() ? nullptr : &pool_.parts();
  if (parts == nullptr || parts->stretches_of(before) == parts->stretches_of(s.cached)) return;
  const auto left =
      std::stable_partition(s.window.begin(), s.window.end(),
                            [&](const WindowPart& part) { return parts->is_held(part, s.cached); });
  WindowParts passed(left, s.window.end());
  std::ranges::reverse(passed);  // the first one that was left is the first to be evicted
  s.window.erase(left, s.window.end());
  pool_.release({{}, passed});
}

}  // namespace tiersim
