// The copies of blocks of a replica: between its tiers, and from the replica that prefilled.
#include <algorithm>
#include <utility>

#include "sim/core/engine.hpp"
#include "sim/serving/replica.hpp"
#include "sim/serving/replica_copies.hpp"
#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

bool is_of_states(MoveKind kind) {
  return kind == MoveKind::state_load || kind == MoveKind::state_store;
}

}  // namespace

Process Replica::move_beside(SequenceMove what) {
  Sequence& s = *what.sequence;
  s.load_began = parts_.engine.now();  // those of several tiers begin together
  const Process moving = move(what);
  co_await moving;
  scheduler_now().arrived(what);
  if (what.move.kind == MoveKind::prefix_load && s.moves == 0 && s.generated == 0)
    s.load_time += parts_.engine.now() - s.load_began;
  start_storing();
  if (what.move.kind == MoveKind::handover) has_come(s);
  wake();
}

void Replica::prefetch(const Request& request) {
  if (parts_.config.server.prefix_cache->prefetch->into == PrefetchInto::nearest_tier) {
    for (PrefixCopies::Store& store : scheduler_now().raise(request))
      parts_.engine.spawn(raise_beside(std::move(store)));
    return;
  }
  Scheduler::Prefetch what = scheduler_now().prefetch(request);
  if (!what.entries.empty()) parts_.engine.spawn(prefetch_beside(std::move(what)));
}

Process Replica::prefetch_beside(Scheduler::Prefetch what) {
  Semaphore ended(parts_.engine, 0);
  for (const BlockMove& each : what.moves) parts_.engine.spawn(move_one(each, ended));
  for (std::size_t k = 0; k < what.moves.size(); ++k) {
    Semaphore::Acquire one = ended.acquire();
    co_await one;
  }
  scheduler_now().prefetched(what);
  count_held();
  start_storing();
  wake();
}

Process Replica::raise_beside(PrefixCopies::Store what) {
  const Process moving =
      move({{MoveKind::prefetch, blocks_of(what.entries), what.from, what.to}, nullptr});
  co_await moving;
  scheduler_now().stored(what);
  count_held();
  start_storing();
  wake();
}

Process Replica::move_one(BlockMove what, Semaphore& ended) {
  const Process moving = move({what, nullptr});
  co_await moving;
  ended.release();
}

// A layer's share of the blocks stands for the layer's part of all of them.
Process Replica::load_first_layer(std::vector<SequenceMove>& within) {
  if (within.empty()) co_return;
  Semaphore ended(parts_.engine, 0);
  std::size_t moves = 0;
  for (SequenceMove& what : within) {
    what.sequence->load_began = parts_.engine.now();
    const std::int64_t layers = parts_.config.scenario.model.layers;
    BlockMove first = what.move;
    first.blocks = (what.move.blocks + layers - 1) / layers;
    what.move.blocks -= first.blocks;
    ++moves;
    parts_.engine.spawn(move_one(first, ended));
  }
  for (std::size_t k = 0; k < moves; ++k) {
    Semaphore::Acquire one = ended.acquire();
    co_await one;
  }
}

Process Replica::load_within(SequenceMove what, Semaphore& ended, SimTime& last) {
  Sequence& s = *what.sequence;
  if (what.move.blocks > 0) {
    const Process moving = move(what);
    co_await moving;
  }
  scheduler_now().arrived(what);
  if (s.moves == 0 && s.generated == 0) s.load_time += parts_.engine.now() - s.load_began;
  last = parts_.engine.now();
  start_storing();
  ended.release();
}

void Replica::start_storing() {
  for (std::size_t level = 1; level < storing_.size(); ++level) {
    if (storing_[level] != 0) continue;
    std::optional<PrefixCopies::Store> next =
        scheduler_.next_store(static_cast<std::int64_t>(level));
    if (!next) continue;
    storing_[level] = 1;
    parts_.engine.spawn(store(*std::move(next)));
  }
}

Process Replica::store(PrefixCopies::Store what) {
  const std::int64_t blocks = blocks_of(what.entries);
  const Process moving = move({{MoveKind::prefix_store, blocks, what.from, what.to}, nullptr});
  co_await moving;
  scheduler_now().stored(what);
  storing_[static_cast<std::size_t>(what.to)] = 0;
  count_held();
  start_storing();
  wake();  // sequences may wait for the room
}

OpPlan Replica::plan_of(const BlockMove& what) const {
  OpPlan plan = spread(parts_.system.plan(move_op(what, move_bytes(what))), parts_.layout.pools,
                       parts_.system);
  plan.setup += recoding_time(what);
  return plan;
}

// Both times are of this prompt alone, but for loads that this replica has begun from the same
// level and that share its path.
bool Replica::is_load_faster(const PrefixLoad& load) {
  Duration loading{};
  for (std::size_t level = 1; level < load.from.size(); ++level) {
    if (load.from[level] == 0) continue;
    BlockMove move{MoveKind::prefix_load, load.from[level], static_cast<std::int64_t>(level), 0};
    if (move_bytes(move) == Bytes{}) continue;  // no part of it is in the near tier
    move.blocks += loading_[level];
    const OpPlan plan = plan_of(move);
    loading = std::max(loading, plan.uncontended(parts_.system.channels()));
  }
  const Demand& computing =
      parts_.cost.of({.chunks = {{.tokens = load.positions, .before = load.before}}, .logits = 1});
  return loading < computing.time();
}

Process Replica::move(SequenceMove what) {
  const Bytes bytes = move_bytes(what.move);
  if (bytes == Bytes{}) co_return;  // no part of it is in the near tier
  const bool received = what.move.kind == MoveKind::handover;
  const ServingParts& from = received ? sender() : parts_;
  const bool loads =
      what.move.kind == MoveKind::prefix_load || what.move.kind == MoveKind::prefetch;
  if (loads) loading_[static_cast<std::size_t>(what.move.from)] += what.move.blocks;
  const auto kind = static_cast<std::size_t>(what.move.kind);
  ++totals_.moves[kind];
  HandOver handed;
  if (received)
    handed = plan_hand_over(what.move);
  else
    handed = {.parts = std::ssize(stages_), .sent = plan_of(what.move), .received = {}};
  Demand work(from.system);
  for (std::int64_t part = 0; part < handed.parts; ++part) work.add(handed.sent, from.system);
  totals_.pools[from.pool].copies.add(work);
  const Bytes moved = moved_bytes(what.move) * parts_.layout.gpus_of_block;
  totals_.moved_bytes[kind] += moved.in_base();
  MoveSample sample{.replica = index_,
                    .pool = from.pool,
                    .move = what.move,
                    .request = what.sequence != nullptr ? what.sequence->request.id : -1,
                    .bytes = moved,
                    .begin = parts_.engine.now()};
  const Process moving =
      received ? hand_over(reader_of(*what.sequence), handed) : copy(handed.sent);
  co_await moving;
  if (loads) loading_[static_cast<std::size_t>(what.move.from)] -= what.move.blocks;
  sample.end = parts_.engine.now();
  sample.work = &work;
  parts_.observer.on_move(sample);
}

Process Replica::load_weights(const std::string& tier) {
  const TierId from = parts_.system.tier(tier);
  Op op;
  op.kind = OpKind::transfer;
  op.requester = RequesterKind::copy_engine;
  for (const KvCapacity::Part& part : parts_.layout.capacity.parts) {
    const TierId to = parts_.system.tier(part.tier);
    if (part.what != "weights" || to == from) continue;  // what lies there already
    const Bytes bytes = Bytes::from_base(part.bytes);
    add_access(op, from, Direction::read, {TensorClass::weights, bytes, bytes});
    add_access(op, to, Direction::write, {TensorClass::weights, bytes, bytes});
  }
  const OpPlan plan = parts_.system.plan(op);
  Demand work(parts_.system);
  for (std::size_t s = 0; s < stages_.size(); ++s) work.add(plan, parts_.system);
  totals().copies.add(work);
  const Process moving = copy(plan);
  co_await moving;
  parts_.observer.on_weights(parts_.engine.now(), parts_.pool, work);
}

Process Replica::copy(const OpPlan& plan) {
  const std::int64_t count = std::ssize(stages_);
  if (count == 1) {
    const Process moving = parts_.hardware.copy(group(0), plan);
    co_await moving;
    co_return;
  }
  Semaphore ended(parts_.engine, 0);
  for (std::int64_t s = 0; s < count; ++s)
    parts_.engine.spawn(copy_part(parts_.hardware, group(s), plan, {}, ended));
  for (std::int64_t s = 0; s < count; ++s) {
    Semaphore::Acquire one = ended.acquire();
    co_await one;
  }
}

Process Replica::copy_part(ServingHardware& hardware, std::int64_t group, OpPlan plan,
                           ServingHardware::Receiver receiver, Semaphore& ended) {
  const Process moving = hardware.copy(group, std::move(plan), std::move(receiver));
  co_await moving;
  ended.release();
}

TierId Replica::tier_of(MoveKind kind, std::int64_t level) const {
  const ScenarioConfig& scenario = parts_.config.scenario;
  if (level == 0) return parts_.system.tier(scenario.placement.near);
  const bool swap = kind == MoveKind::swap_out || kind == MoveKind::swap_in;
  if (swap) return parts_.system.tier(scenario.placement.far);
  const auto& tiers = parts_.config.server.prefix_cache->tiers;
  return parts_.system.tier(tiers[static_cast<std::size_t>(level) - 1].tier);
}

// The cached bytes of a block in the GPU's own memory, since far rows stay where they are. A
// hand-over copies all of them, and a copy of a state within the pool the state alone.
Bytes Replica::move_bytes(const BlockMove& what) const {
  const TierId near = parts_.system.tier(parts_.config.scenario.placement.near);
  if (what.kind == MoveKind::handover)
    return part_of(parts_.layout.gathered(), parts_.layout.gpus_of_block) * what.blocks;
  if (is_of_states(what.kind))
    return parts_.layout.state_bytes * (what.blocks / *parts_.layout.capacity.state_blocks);
  return parts_.layout.cached_bytes[near.index()] * what.blocks;
}

// One copy of many runs: blocks, or for each layer the keys and the values of a block.
Op Replica::move_op(const BlockMove& what, Bytes bytes) const {
  const TierId near = parts_.system.tier(parts_.config.scenario.placement.near);
  const bool states = is_of_states(what.kind);
  const Bytes run = std::clamp(states ? parts_.layout.state_bytes : runs_of(parts_)[near.index()],
                               Bytes::from_base(1), bytes);
  const TensorClass moved = states ? TensorClass::states : TensorClass::keys;
  Op op{.kind = OpKind::transfer,
        .phase = Phase::kv_transfer,
        .requester = RequesterKind::copy_engine,
        .flops = {}};
  // The pool reads or writes the compressed bytes of a compressed copy.
  Bytes read = bytes;
  Bytes written = bytes;
  if (is_of_prefixes(what.kind)) {
    if (parts_.config.server.prefix_cache->moved_by == MovedBy::kernel)
      op.requester = RequesterKind::sm;
    read = stored_bytes(what.from > 0 ? what.from : what.to, bytes);
    written = stored_bytes(what.to > 0 ? what.to : what.from, bytes);
  }
  // Between two tiers a contiguous run covers a block of the one whose blocks are shorter.
  const auto block_of = [&](std::int64_t level) {
    return parts_.config.pool_blocks_of_block(static_cast<std::size_t>(level) - 1);
  };
  const bool between = is_of_prefixes(what.kind) && what.from > 0 && what.to > 0;
  const std::int64_t longer = between ? std::min(block_of(what.from), block_of(what.to)) : 1;
  add_access(op, tier_of(what.kind, what.from), Direction::read,
             {moved, read, std::min(run * longer, read)});
  add_access(op, tier_of(what.kind, what.to), Direction::write,
             {moved, written, std::min(run * longer, written)});
  return op;
}

// The bytes of a tier that all replicas share are counted once for all of them.
void Replica::count_shared() {
  for (std::size_t k = 0; k < scheduler_.limits().prefix_levels.size(); ++k) {
    if (!parts_.shares(k + 1)) continue;
    const auto level = static_cast<std::int64_t>(k) + 1;
    const std::int64_t bytes =
        stored_bytes(level, parts_.layout.gathered() * scheduler_.pool().below(level)).in_base();
    std::int64_t& last = totals().held_shared[k];
    if (bytes == last) continue;
    const TierId tier = tier_of(MoveKind::prefix_store, level);
    totals().held[tier.index()] += bytes - last;
    last = bytes;
    parts_.on_held(tier, totals().held[tier.index()]);
  }
}

void Replica::count_held() {
  const std::vector<Bytes>& block = parts_.layout.block_bytes;
  const std::int64_t gpus = parts_.layout.gpus_of_block;
  std::vector<std::int64_t>& now = holds_;
  now.assign(block.size(), 0);
  for (std::size_t t = 0; t < now.size(); ++t)
    now[t] += (block[t] * (scheduler_.pool().occupied() * gpus)).in_base();
  const auto add_gathered = [&](TierId tier, std::int64_t blocks, std::int64_t level = 0) {
    now[tier.index()] += stored_bytes(level, parts_.layout.gathered() * blocks).in_base();
  };
  if (scheduler_.swapped() > 0) add_gathered(tier_of(MoveKind::swap_out, 1), scheduler_.swapped());
  for (std::size_t l = 1; l <= scheduler_.limits().prefix_levels.size(); ++l) {
    const auto level = static_cast<std::int64_t>(l);
    if (parts_.shares(l)) continue;  // count_shared()
    add_gathered(tier_of(MoveKind::prefix_store, level), scheduler_.pool().below(level), level);
  }
  count_shared();
  held_.resize(now.size());
  for (std::size_t t = 0; t < now.size(); ++t) {
    if (now[t] == held_[t]) continue;
    std::int64_t& held = totals().held[t];
    held += now[t] - held_[t];
    parts_.on_held(TierId(t), held);
    held_[t] = now[t];
  }
}

BlockLimits block_limits(const ServingConfig& config, const System& system,
                         const KvLayout& layout) {
  BlockLimits out{.blocks = layout.blocks,
                  .block = layout.block,
                  .groups = layout.groups,
                  .encoder = config.scenario.model.encoder.has_value()};
  if (config.scenario.speculation)
    out.drafting.emplace(*config.scenario.speculation, static_cast<std::uint64_t>(config.seed));
  const Bytes block = layout.gathered();
  if (block == Bytes{}) return out;
  if (config.server.kv.preemption == Preemption::swap) {
    const TierId far = system.tier(config.scenario.placement.far);
    const Bytes space = config.server.kv.swap_space.value_or(layout.left_over[far.index()] *
                                                             config.scenario.parallel.devices());
    out.swap_blocks = space.in_base() / block.in_base();
  }
  if (config.server.prefix_cache) {
    out.prefix_block = config.workload.prefix_block;
    out.prefix_eviction = config.server.prefix_cache->eviction_policy;
    out.write_policy = config.server.prefix_cache->write_policy;
    out.keep_in_pool = config.server.prefix_cache->keep_in_pool;
    out.states = config.server.prefix_cache->states.value_or(KeptStates::last);
    for (std::size_t i = 0; i < config.server.prefix_cache->tiers.size(); ++i) {
      const PrefixTier& tier = config.server.prefix_cache->tiers[i];
      const Bytes stored = tier.compression ? scale_up(block, 1 / tier.ratio()) : block;
      out.prefix_levels.emplace_back(tier.capacity.in_base() / stored.in_base(),
                                     tier.eviction_policy);
      out.prefix_levels.back().names = config.names_of_block(i);
      out.prefix_levels.back().ttl = tier.ttl;
      out.prefix_levels.back().exclusive = tier.exclusive;
    }
    out.layerwise_load = config.server.prefix_cache->layerwise_load;
    out.prefix_ttl = config.server.prefix_cache->ttl;
    if (const auto& calls = config.server.prefix_cache->tool_calls) {
      out.tool_calls = calls->blocks;
      out.pause_limits = {
          .time = calls->time,
          .blocks = static_cast<std::int64_t>(calls->pool_share * static_cast<double>(out.blocks))};
    }
  }
  return out;
}

}  // namespace tiersim
