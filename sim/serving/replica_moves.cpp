// The copies of blocks of a replica: between its tiers, and from the replica that prefilled.
#include <algorithm>
#include <utility>

#include "sim/core/engine.hpp"
#include "sim/serving/replica.hpp"
#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

// bytes / parts, rounded up to a byte.
Bytes part_of(Bytes bytes, std::int64_t parts) {
  return Bytes::from_base((bytes.in_base() + parts - 1) / parts);
}

bool is_of_states(MoveKind kind) {
  return kind == MoveKind::state_load || kind == MoveKind::state_store;
}

// The work of one of `gpus` GPUs at its own speed, as the load of the one that stands for all.
OpPlan spread(OpPlan plan, std::int64_t gpus, const System& system) {
  if (gpus == 1) return plan;
  plan.min_duration = plan.uncontended(system.channels()) - plan.setup;
  for (ChannelCharge& charge : plan.charges) charge.busy = part_of(charge.busy, gpus);
  for (DeviceTraffic& traffic : plan.traffic) {
    traffic.payload = part_of(traffic.payload, gpus);
    traffic.moved = part_of(traffic.moved, gpus);
  }
  return plan;
}

}  // namespace

Process Replica::move_beside(SequenceMove what) {
  const Process moving = move(what);
  co_await moving;
  Sequence& s = *what.sequence;
  scheduler_.arrived(what);
  start_storing();
  if (what.move.kind == MoveKind::handover) sink_.received(std::exchange(s.source, -1), s);
  wake();
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
  scheduler_.stored(what);
  storing_[static_cast<std::size_t>(what.to)] = 0;
  count_held();
  start_storing();
  wake();  // sequences may wait for the room
}

Process Replica::move(SequenceMove what) {
  const Bytes bytes = move_bytes(what.move);
  if (bytes == Bytes{}) co_return;  // no part of it is in the near tier
  const Op op = move_op(what.move, bytes);
  const std::int64_t pools = parts_.layout.pools;
  const OpPlan plan = spread(parts_.system.plan(op), pools, parts_.system);
  const auto kind = static_cast<std::size_t>(what.move.kind);
  ++totals_.moves[kind];
  Demand work(parts_.system);
  for (std::size_t s = 0; s < stages_.size(); ++s) work.add(plan, parts_.system);
  totals_.copies.add(work);
  totals_.moved_bytes[kind] += (bytes * parts_.layout.gpus_of_block).in_base();
  const bool received = what.move.kind == MoveKind::handover;
  const std::int64_t from = received ? what.sequence->source : index_;
  ServingHardware::Receiver receiver;
  if (received) receiver = {index_, spread(parts_.system.plan_receipt(op), pools, parts_.system)};
  MoveSample sample{.replica = index_,
                    .move = what.move,
                    .request = what.sequence != nullptr ? what.sequence->request.id : -1,
                    .bytes = bytes * parts_.layout.gpus_of_block,
                    .begin = parts_.engine.now()};
  const Process moving = copy(from, plan, receiver);
  co_await moving;
  sample.end = parts_.engine.now();
  sample.work = &work;
  parts_.observer.on_move(sample);
}

Process Replica::copy(std::int64_t from, const OpPlan& plan,
                      const ServingHardware::Receiver& receiver) {
  const auto count = static_cast<std::int64_t>(stages_.size());
  if (count == 1) {
    const Process moving = parts_.hardware.copy(from, plan, receiver);
    co_await moving;
    co_return;
  }
  Semaphore ended(parts_.engine, 0);
  for (std::int64_t s = 0; s < count; ++s) {
    ServingHardware::Receiver to = receiver;
    if (to.group >= 0) to.group = to.group * count + s;
    parts_.engine.spawn(copy_part(from * count + s, plan, std::move(to), ended));
  }
  for (std::int64_t s = 0; s < count; ++s) {
    Semaphore::Acquire one = ended.acquire();
    co_await one;
  }
}

Process Replica::copy_part(std::int64_t from, OpPlan plan, ServingHardware::Receiver receiver,
                           Semaphore& ended) {
  const Process moving = parts_.hardware.copy(from, std::move(plan), std::move(receiver));
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
  const bool all = what.kind == MoveKind::handover;
  const bool states = is_of_states(what.kind);
  const bool pages = parts_.config.server.kv.memory_layout == MemoryLayout::page_first;
  const std::vector<Bytes>& runs = pages ? parts_.layout.cached_bytes : parts_.layout.run_bytes;
  const Bytes run = std::clamp(all      ? *std::ranges::max_element(runs)
                               : states ? parts_.layout.state_bytes
                                        : runs[near.index()],
                               Bytes::from_base(1), bytes);
  const TensorClass moved = states ? TensorClass::states : TensorClass::keys;
  Op op{.kind = OpKind::transfer,
        .phase = Phase::kv_transfer,
        .requester = RequesterKind::copy_engine,
        .flops = {}};
  if (all) {
    op.kind = OpKind::collective;
    op.collective = {
        .kind = CollectiveKind::send, .fabric = Fabric::transfer, .size = bytes, .ranks = 2};
    add_access(op, near, Direction::read, {TensorClass::keys, bytes, run});
    return op;
  }
  add_access(op, tier_of(what.kind, what.from), Direction::read, {moved, bytes, run});
  add_access(op, tier_of(what.kind, what.to), Direction::write, {moved, bytes, run});
  return op;
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
    out.write_policy = config.server.prefix_cache->write_policy;
    out.states = config.server.prefix_cache->states.value_or(KeptStates::last);
    for (const PrefixTier& tier : config.server.prefix_cache->tiers)
      out.prefix_levels.push_back(tier.capacity.in_base() / block.in_base());
  }
  return out;
}

}  // namespace tiersim
