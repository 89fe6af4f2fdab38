#include "workloads/serving/scheduler.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

std::optional<KvPool::Prefixes> prefixes(const BlockLimits& limits) {
  if (limits.prefix_block == 0) return std::nullopt;
  return KvPool::Prefixes{.parts = PrefixParts(limits.groups, limits.block, limits.prefix_block),
                          .levels = limits.prefix_levels,
                          .eviction = limits.prefix_eviction,
                          .write_policy = limits.write_policy,
                          .cost_growth = limits.prefix_cost_growth,
                          .keep_in_pool = limits.keep_in_pool,
                          .ttl = limits.prefix_ttl,
                          .pauses = limits.tool_calls == PausedBlocks::preserve
                                        ? std::optional(limits.pause_limits)
                                        : std::nullopt};
}

}  // namespace

Scheduler::Scheduler(const ServerConfig& config, BlockLimits limits)
    : config_(config),
      limits_(std::move(limits)),
      pool_(limits_.blocks, prefixes(limits_)),
      watermark_(
          static_cast<std::int64_t>(config.kv.watermark * static_cast<double>(limits_.blocks))) {}

// The sequence's own blocks, beside those that it pins among the positions. An encoder's rows take
// as many blocks as others.
std::int64_t Scheduler::blocks_for(const Sequence& s, std::int64_t positions) const {
  const auto whole = [&](std::int64_t of) { return blocks_of(limits_.groups, limits_.block, of); };
  const std::int64_t encoded = limits_.encoder ? whole(s.request.input_tokens) : 0;
  std::int64_t pinned = 0;
  if (limits_.prefix_block > 0) {
    pinned = s.shared * pool_.parts().whole_blocks();
    for (const WindowPart& part : s.window)
      if (pool_.parts().is_held(part, positions)) pinned += part.blocks;
  }
  return whole(positions) + encoded - pinned;
}

std::int64_t Scheduler::most_blocks_of(const Request& request) const {
  const Sequence s{.request = {.input_tokens = request.input_tokens}};
  const std::int64_t positions = (limits_.encoder ? 1 : request.input_tokens) +
                                 request.output_tokens - 1 + limits_.most_drafts();
  return pool_.has_prefixes() ? pool_.parts().most_blocks(positions) : blocks_for(s, positions);
}

// Blocks of all that run at their full lengths, what is being written through, which may belong to
// a sequence that has ended, and what is being prefetched.
std::int64_t Scheduler::promised() const {
  std::int64_t blocks = pool_.storing() + pool_.prefetching();
  for (const Sequence* s : running_) blocks += most_for(*s);
  for (const Sequence* s : expected_) blocks += most_for(*s);
  return blocks;
}

std::int64_t Scheduler::most_for(const Sequence& s) const {
  Request length{.input_tokens = s.request.input_tokens, .output_tokens = s.request.output_tokens};
  if (limits_.prompts_only) length.output_tokens = 1;
  return most_blocks_of(length);
}

// True where the sequence and all that run fit in the pool at their full lengths.
bool Scheduler::is_promised(const Sequence& s) const {
  if (config_.kv.admission == Admission::prompt || s.reserved > 0) return true;
  return most_for(s) + promised() <= limits_.blocks;
}

LeadingNames Scheduler::prefix_of(const Sequence& s, std::int64_t entries) const {
  return LeadingNames(s.request.prefix).first(entries);
}

// Named blocks that need not be computed. The last position of the prompt always must be.
std::int64_t Scheduler::usable(const Sequence& s) const {
  return std::min(static_cast<std::int64_t>(s.request.prefix.size()),
                  (s.prompt - 1) / limits_.prefix_block);
}

std::int64_t Scheduler::cached_prefix(const Request& request) const {
  return limits_.prefix_block * pool_.find(request.prefix).entries;
}

void Scheduler::submit(Sequence& s) {
  // One that another replica has lost reads what it had given, too.
  if (s.source < 0 && s.reserved == 0)
    s.prompt = (limits_.encoder ? 1 : s.request.input_tokens) + s.generated;
  auto at = waiting_.end();
  while (at != waiting_.begin() && goes_before(s, **std::prev(at))) --at;
  waiting_.insert(at, &s);
}

// One that has its blocks already is not held up by one that waits for some.
bool Scheduler::goes_before(const Sequence& a, const Sequence& b) const {
  if ((a.reserved > 0) != (b.reserved > 0)) return a.reserved > 0;
  return config_.scheduler.order == QueueOrder::priority && a.request.priority < b.request.priority;
}

Iteration Scheduler::plan() {
  Iteration out = next();
  for (const BlockMove& move : later_) out.before.push_back({move, nullptr});
  std::rotate(out.before.begin(), out.before.end() - std::ssize(later_), out.before.end());
  later_.clear();
  for (const Iteration::Piece& piece : out.pieces) piece.sequence->in_flight += piece.tokens;
  return out;
}

Iteration Scheduler::next() {
  Iteration out;
  preempted_now_ = 0;
  admit_arrived();
  const std::int64_t budget = config_.scheduler.max_batched_tokens;
  switch (config_.scheduler.policy) {
    case SchedulerPolicy::static_batch:
      if (running_.empty()) form_batch(out);
      if (out.pieces.empty()) decode_running(out);
      break;
    case SchedulerPolicy::prefill_first:
      admit_prompts(out, continue_prompts(out, budget), true);
      if (out.pieces.empty()) decode_running(out);
      break;
    case SchedulerPolicy::decode_first:
      decode_running(out);
      if (out.decodes.empty()) admit_prompts(out, continue_prompts(out, budget), true);
      break;
    case SchedulerPolicy::chunked:
    case SchedulerPolicy::mixed: {
      decode_running(out);
      if (holds_back(out)) break;
      std::int64_t left = budget - static_cast<std::int64_t>(out.decodes.size()) * (1 + out.drafts);
      if (reads_) left = continue_prompts(out, left);
      admit_prompts(out, left, config_.scheduler.policy == SchedulerPolicy::mixed);
      break;
    }
  }
  return out;
}

bool Scheduler::holds_back(const Iteration& iteration) {
  const SchedulerConfig& c = config_.scheduler;
  // A swapped or handed-over sequence has read its prompt already, so it never waits for more
  // prompts.
  const auto reads = [](const Sequence* s) {
    return s->swapped == 0 && s->source < 0 && s->reserved == 0;
  };
  if (c.prompt_wait == 0 || waiting_.empty() || !reads(waiting_.front()) ||
      iteration.decodes.empty()) {
    held_back_ = 0;
    return false;
  }
  const double enough = c.prompt_wait_share * static_cast<double>(c.max_batched_tokens);
  auto tokens = static_cast<std::int64_t>(iteration.decodes.size());
  for (const Sequence* s : waiting_) {
    if (static_cast<double>(tokens) >= enough) break;
    tokens += reads(s) ? s->prompt : 0;
  }
  if (held_back_ >= c.prompt_wait || static_cast<double>(tokens) >= enough) {
    held_back_ = 0;
    return false;
  }
  ++held_back_;
  return true;
}

void Scheduler::decode_running(Iteration& out) {
  now_ = running_;
  out.decodes.reserve(now_.size());
  reads_ = false;
  out.drafts = drafts_of_next();
  // A static batch has all its blocks from the start.
  const bool has_all = config_.scheduler.policy == SchedulerPolicy::static_batch;
  for (Sequence* s : now_) {
    reads_ = reads_ || s->planned() < s->prompt;
    if (!may_decode(*s)) continue;
    const std::int64_t positions = s->cached + 1;
    const std::int64_t held = positions + out.drafts;
    if (!has_all && !has_blocks(*s, held) && !grow(*s, held, out)) continue;
    out.decodes.push_back(s);
    out.positions += positions;
    if (out.drafts > 0) out.gains.push_back(limits_.drafting->gained(*s, out.drafts));
    ++s->in_flight;
  }
}

bool Scheduler::may_decode(const Sequence& s) {
  return s.runs && !s.loading() && !s.prefilling() && s.in_flight == 0;
}

std::int64_t Scheduler::drafts_of_next() const {
  if (!limits_.drafting) return 0;
  return limits_.drafting->tokens(
      std::ranges::count_if(running_, [](const Sequence* s) { return may_decode(*s); }));
}

// Returns the remaining budget.
std::int64_t Scheduler::continue_prompts(Iteration& out, std::int64_t budget) {
  now_ = running_;
  for (Sequence* s : now_) {
    if (budget <= 0) break;
    const std::int64_t before = s->planned();
    if (!s->runs || s->loading() || before >= s->prompt) continue;
    const std::int64_t tokens = std::min(s->prompt - before, budget);
    if (!grow(*s, before + tokens, out)) continue;
    out.pieces.push_back({s, tokens, tokens, before});
    budget -= tokens;
  }
  return budget;
}

void Scheduler::admit_prompts(Iteration& out, std::int64_t budget, bool whole) {
  // Blocks that a preemption has freed are for running sequences.
  while (preempted_now_ == 0 && budget > 0 && !waiting_.empty() &&
         running() < config_.scheduler.max_sequences) {
    Sequence& s = *waiting_.front();
    const auto kept = s.reserved > 0 ? 0 : static_cast<std::int64_t>(expected_.size());
    if (!is_promised(s) || running() + kept >= config_.scheduler.max_sequences) return;
    const bool back = s.swapped > 0 || s.source >= 0 || s.reserved > 0;
    if (!(back ? bring_back(s, out) : admit(s, out, budget, whole))) {
      // A session that pauses does not keep out the only one that could run.
      if (running_.empty() && pool_.end_a_pause()) continue;
      return;
    }
    waiting_.pop_front();
    s.runs = true;
    running_.push_back(&s);
  }
}

// Takes as many requests as fit when all have the longest length among them.
void Scheduler::form_batch(Iteration& out) {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::vector<Sequence*> batch;
  const auto blocks = [&](std::int64_t in, std::int64_t tokens) {
    return most_blocks_of({.input_tokens = in, .output_tokens = tokens});
  };
  while (!waiting_.empty() &&
         static_cast<std::int64_t>(batch.size()) < config_.scheduler.max_sequences) {
    Sequence& s = *waiting_.front();
    const std::int64_t in = std::max(input, s.request.input_tokens);
    const std::int64_t tokens = std::max(output, s.request.output_tokens);
    const auto count = static_cast<std::int64_t>(batch.size()) + 1;
    if (blocks(in, tokens) * count > pool_.available()) break;
    if (in * count > config_.scheduler.max_batched_tokens && count > 1) break;
    input = in;
    output = tokens;
    batch.push_back(&s);
    waiting_.pop_front();
  }
  std::vector<BlockMove> moves;  // stays empty, as there is no prefix cache
  for (Sequence* s : batch) {
    s->blocks = blocks(input, output);
    const bool taken = pool_.take(s->blocks, moves);
    TS_INVARIANT(taken && moves.empty(), s->blocks, pool_.available());
    s->runs = true;
    out.pieces.push_back({s, s->prompt, limits_.encoder ? input : std::max(input, s->prompt)});
    running_.push_back(s);
  }
}

// True where its blocks surely hold so many positions.
bool Scheduler::has_blocks(const Sequence& s, std::int64_t positions) const {
  if (pool_.has_windows()) return positions <= pool_.parts().stretches_of(s.room) * limits_.block;
  return !limits_.encoder && limits_.groups.size() == 1 && limits_.groups.front().blocks == 1 &&
         positions <= (s.blocks + pool_.blocks_of(pins_of(s))) * limits_.block;
}

// Takes blocks for this many positions and preempts others if need be. False where the sequence
// itself was preempted.
bool Scheduler::grow(Sequence& s, std::int64_t positions, Iteration& out) {
  const std::int64_t more = blocks_for(s, positions) - s.blocks;
  if (more <= 0) {
    s.room = std::max(s.room, positions);
    return true;
  }
  std::vector<BlockMove> moves;
  while (!pool_.take(more, moves)) {
    if (pool_.end_a_pause()) continue;  // sooner than a sequence that runs
    // The victim is the last admitted sequence that is neither loading nor in an iteration; of
    // those that go last, where there are priorities.
    const auto at_work = [&](const Sequence* other) {
      return other->in_flight > 0 ||
             std::ranges::count(out.pieces, other, &Iteration::Piece::sequence) != 0;
    };
    Sequence* victim = nullptr;
    for (auto it = running_.rbegin(); it != running_.rend(); ++it)
      if (!(*it)->loading() && !at_work(*it) && (victim == nullptr || goes_before(*victim, **it)))
        victim = *it;
    TS_INVARIANT(victim != nullptr);
    preempt(*victim, out);
    if (victim == &s) return false;
  }
  s.blocks += more;
  s.room = positions;
  for (const BlockMove& move : moves) out.before.push_back({move, nullptr});
  return true;
}

bool Scheduler::has_room(std::int64_t blocks) const {
  const std::int64_t spare = running_.empty() && expected_.empty() ? 0 : watermark_;
  return blocks + spare <= pool_.available();
}

bool Scheduler::admit(Sequence& s, Iteration& out, std::int64_t& budget, bool whole) {
  const std::int64_t cost_of_all = limits_.encoder ? s.request.input_tokens : s.prompt;
  KvPool::Found found;
  if (limits_.prefix_block > 0) found = found_for(s);
  const std::int64_t cached = found.entries * limits_.prefix_block;
  const std::int64_t left = limits_.encoder ? cost_of_all : s.prompt - cached;
  // A prompt that exceeds the budget by itself is read in an iteration of its own.
  if (whole && left > budget && !(out.pieces.empty() && out.decodes.empty())) return false;
  const std::int64_t tokens = whole || limits_.encoder ? s.prompt - cached : std::min(left, budget);
  s.shared = found.entries;
  if (pool_.has_windows()) s.window = pool_.window(prefix_of(s, s.shared));
  // The whole prompt must fit from the start, or prompts in pieces would take blocks from each
  // other.
  const std::int64_t own = blocks_for(s, s.prompt);
  if (!has_room(own + found.below + found.idle)) {
    s.shared = 0;
    s.window.clear();
    return false;
  }
  const bool others_load = limits_.prefix_block > 0 && pool_.is_loading(pins_of(s));
  if (!s.has_started) count_cached(s);
  pin_prefix(s, own, out);
  pool_.resume(s.request.session);
  s.cached = cached;
  s.branch = found.matched;
  s.waits_for_prefix = others_load && s.moves == 0;
  if (others_load || (s.moves > 0 && !limits_.layerwise_load)) return true;
  load_within(s, out);
  out.pieces.push_back({&s, tokens, limits_.encoder ? left : tokens, s.cached});
  budget -= limits_.encoder ? left : tokens;
  return true;
}

void Scheduler::preempt(Sequence& s, Iteration& out) {
  TS_INVARIANT(s.reserved == 0, s.reserved);
  ++preempted_now_;
  ++s.preemptions;
  // A copy of the shared prefix is swapped too: pinned by a waiting sequence, it could block
  // others.
  const std::int64_t blocks = s.blocks + pool_.blocks_of(pins_of(s));
  const bool fits = swapped_ + blocks <= limits_.swap_blocks;
  if (config_.kv.preemption == Preemption::swap && fits) {
    out.before.push_back({{MoveKind::swap_out, blocks, 0, 1}, &s});
    drop_blocks(s);
    s.swapped = blocks;
    swapped_ += blocks;
  } else {
    drop_blocks(s);
    s.prompt = (limits_.encoder ? 1 : s.request.input_tokens) + s.generated;
    s.cached = 0;
    s.source = -1;
  }
  std::erase(running_, &s);
  s.runs = false;
  auto at = waiting_.begin();
  while (at != waiting_.end() && goes_before(**at, s)) ++at;
  waiting_.insert(at, &s);
}

void Scheduler::drop_own_blocks(Sequence& s) {
  pool_.give(s.blocks);
  s.blocks = 0;
  s.room = 0;
}

void Scheduler::drop_blocks(Sequence& s) {
  drop_own_blocks(s);
  pool_.release(pins_of(s));
  s.shared = 0;
  s.window.clear();
}

// The sequence has ended. Where its session goes on after a tool call, its blocks may stay for it.
void Scheduler::end_use(Sequence& s) {
  if (!limits_.tool_calls || s.request.session.pause != SessionPause::tool) return drop_blocks(s);
  drop_own_blocks(s);
  if (*limits_.tool_calls == PausedBlocks::preserve)
    pool_.pause(s.request.session, pins_of(s));
  else
    pool_.discard(pins_of(s), later_);
  s.shared = 0;
  s.window.clear();
}

void Scheduler::give_back_rejected(Sequence& s) {
  const std::int64_t surplus = s.blocks - blocks_for(s, s.cached);
  TS_INVARIANT(surplus >= 0, surplus);
  pool_.give(surplus);
  s.blocks -= surplus;
  s.room = s.cached;
}

void Scheduler::finish(const Iteration& iteration) {
  bool any_ended = false;
  for (const auto& [s, tokens, executed, before] : iteration.pieces) {
    s->cached += tokens;
    s->in_flight -= tokens;
    if (!s->prefilling() && !limits_.gives_no_token) ++s->generated;
    share_computed(*s, before);
    slide(*s, before);
    s->ended = !s->prefilling() && s->is_done();
    any_ended = any_ended || s->ended;
  }
  for (std::size_t i = 0; i < iteration.decodes.size(); ++i) {
    Sequence* s = iteration.decodes[i];
    const std::int64_t gained = iteration.gain(i);
    s->cached += gained;
    --s->in_flight;
    slide(*s, s->cached - gained);
    if (!s->ended) s->generated += gained;
    if (iteration.drafts > 0) give_back_rejected(*s);
    share_answer(*s, s->cached - gained);
    s->ended = s->is_done();
    any_ended = any_ended || s->ended;
  }
  if (!any_ended) return;
  const bool together = config_.scheduler.policy == SchedulerPolicy::static_batch;
  if (together && !std::ranges::all_of(running_, &Sequence::ended)) return;
  for (Sequence* s : running_) {
    if (!s->ended) continue;
    end_use(*s);
    s->runs = false;
  }
  std::erase_if(running_, [](const Sequence* s) { return s->ended; });
}

void Scheduler::arrived(const SequenceMove& done) {
  Sequence& s = *done.sequence;
  TS_EXPECTS(s.moves > 0, s.moves);
  if (--s.moves > 0 || done.move.kind != MoveKind::prefix_load) return;
  pool_.arrived(std::exchange(s.loads, {}), prefix_of(s, s.shared));
  keep_loaded_state(s);
  end_waits(&s);
}

void Scheduler::abandon(const Iteration& iteration) {
  for (const Iteration::Piece& piece : iteration.pieces) piece.sequence->in_flight -= piece.tokens;
  for (Sequence* s : iteration.decodes) --s->in_flight;
}

std::vector<Sequence*> Scheduler::lose_all() {
  std::vector<Sequence*> out(running_.begin(), running_.end());
  for (Sequence* s : out) {
    TS_EXPECTS(s->moves == 0 && s->in_flight == 0, s->moves, s->in_flight);
    drop_blocks(*s);
    s->cached = 0;
    s->runs = false;
  }
  out.insert(out.end(), waiting_.begin(), waiting_.end());
  running_.clear();
  waiting_.clear();
  end_pauses();
  TS_ENSURES(pool_.used() == 0 && swapped_ == 0, pool_.used(), swapped_);
  pool_ = KvPool(limits_.blocks, prefixes(limits_));
  later_.clear();
  held_back_ = 0;
  return out;
}

}  // namespace tiersim
