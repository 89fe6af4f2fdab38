// The prefixes of a scheduler's sequences: what each pins and shares, and the copies that are kept.
#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim {

// The prefix that a waiting prompt uses, which ends where loading the rest of it would not pay.
KvPool::Found Scheduler::found_for(Sequence& s) {
  const LeadingNames names = prefix_of(s, usable(s));
  const KvPool::Found found = pool_.find(names);
  if (!s.has_started) s.declined_tokens = 0;
  if (!s.has_started && pool_.passes_over())
    s.declined_tokens = (pool_.found_anywhere(names) - found.entries) * limits_.prefix_block;
  if (!loads_ || found.below == 0) return found;
  const KvPool::Load load = pool_.load_of(names.first(found.entries));
  // Windows and states may be missing in the pool although it has all positions.
  const KvPool::Found pooled = pool_.find(names.first(load.pooled));
  const std::int64_t kept = pooled.below == 0 ? pooled.entries : 0;
  const std::int64_t positions = (found.entries - kept) * limits_.prefix_block;
  if (loads_({kept * limits_.prefix_block, positions, load.from})) return found;
  if (!s.has_started) s.declined_tokens += positions;
  return pool_.find(names.first(kept));
}

// Counts the tokens of the prompt that are cached when it is admitted, by where they are. Its own
// loads have not begun.
void Scheduler::count_cached(Sequence& s) const {
  s.cached_tokens = s.shared * limits_.prefix_block;
  if (s.shared == 0) return;
  s.cached_in = pool_.found_in(prefix_of(s, s.shared));
  for (std::int32_t& of : s.cached_in) of *= static_cast<std::int32_t>(limits_.prefix_block);
}

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
  if (s.moves == 0) keep_loaded_state(s);  // it is in the pool, and may now be stored below
}

// The iteration works on the sequence while its loads run.
void Scheduler::load_within(const Sequence& s, Iteration& out) {
  if (s.moves == 0) return;
  const auto own =
      std::stable_partition(out.beside.begin(), out.beside.end(),
                            [&](const SequenceMove& move) { return move.sequence != &s; });
  out.within.insert(out.within.end(), own, out.beside.end());
  out.beside.erase(own, out.beside.end());
}

// Sequences wait no longer whose prefixes were loaded by others, and the one whose own loads ended
// may wait for those of others now.
void Scheduler::end_waits(const Sequence* loaded) {
  for (Sequence* s : running_)
    if (s->waits_for_prefix || s == loaded)
      s->waits_for_prefix = s->moves == 0 && pool_.is_loading(pins_of(*s));
}

// Takes no room that is promised, nor the blocks that admission leaves free.
Scheduler::Prefetch Scheduler::prefetch(const Request& request) {
  Prefetch out;
  if (limits_.prefix_block == 0) return out;
  Sequence coming{.request = request};
  coming.prompt = request.input_tokens;
  const KvPool::Found found = found_for(coming);
  if (found.below > 0)
    out.entries =
        pool_.prefetch(prefix_of(coming, found.entries), room_for_copies() - watermark_, out.moves);
  return out;
}

std::vector<PrefixCopies::Store> Scheduler::raise(const Request& request) {
  if (limits_.prefix_block == 0) return {};
  Sequence coming{.request = request};
  coming.prompt = request.input_tokens;
  return pool_.raise(prefix_of(coming, found_for(coming).entries));
}

void Scheduler::prefetched(const Prefetch& done) {
  pool_.prefetched(done.entries);
  end_waits(nullptr);
}

// Shares named blocks that are now whole. A block that the answer fills up is no prefix, unless the
// answer's text has a name too.
void Scheduler::share_computed(Sequence& s, std::int64_t before) {
  if (limits_.prefix_block == 0) return;
  const std::int64_t whole =
      std::min(std::min(s.cached, s.request.shareable_tokens()) / limits_.prefix_block,
               static_cast<std::int64_t>(s.request.prefix.size()));
  if (whole <= s.shared) return;
  const LeadingNames names = prefix_of(s, whole);
  WindowParts held;
  if (pool_.has_windows())
    held = pool_.parts().between(names.names, s.shared, s.room, std::nullopt);
  const PrefixPins gained{names, held, s.shared};
  pool_.share(gained);
  s.blocks -= pool_.blocks_of(gained);
  s.window.insert(s.window.end(), held.begin(), held.end());
  const std::int64_t shared = std::exchange(s.shared, whole);
  keep_copies(s, before, shared);
}

// The same for tokens of an answer. Copies of states are kept of prompts alone, and a replica that
// received a cache shares none of it: the replica that reads the next prompt is another one.
void Scheduler::share_answer(Sequence& s, std::int64_t before) {
  if (limits_.prefix_block == 0 || s.request.named_tokens <= s.request.input_tokens) return;
  if (s.source >= 0 || pool_.parts().state_blocks() > 0) return;
  if (s.cached / limits_.prefix_block > s.shared) share_computed(s, before);
}

// Keeps stretches that a window has passed within this piece of the prompt, and states. No sequence
// counts on them, so they take what room is left.
void Scheduler::keep_copies(const Sequence& s, std::int64_t before, std::int64_t shared) {
  const PrefixParts& parts = pool_.parts();
  if (parts.has_windows()) {
    PrefixEntries passed;
    for (const WindowPart& part :
         parts.between(prefix_of(s, s.shared).names, shared, before, s.room))
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
    keep_states({pool_.parts().state(prefix_of(s, s.shared).names.back())});
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
  pool_.release(PrefixPins(passed));
}

}  // namespace tiersim
