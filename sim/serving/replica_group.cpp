#include "sim/serving/replica_group.hpp"

#include <algorithm>

namespace tiersim {
namespace {

// Blocks are copied between tiers or replicas.
bool moves_blocks(const ServerConfig& server) {
  return server.kv.preemption == Preemption::swap || server.disaggregation ||
         (server.prefix_cache && !server.prefix_cache->tiers.empty());
}

template <class Number>
void add_each(std::vector<Number>& sums, const std::vector<Number>& more) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
}

// One store for each tier that all replicas of the pool share; null for the others.
std::vector<std::shared_ptr<BlockCache>> shared_tiers(const BuiltPool& pool) {
  std::vector<std::shared_ptr<BlockCache>> out;
  if (!pool.config.server.prefix_cache) return out;
  for (const PrefixLevel& level : block_limits(pool.config, pool.one, pool.layout).prefix_levels) {
    const bool shared = pool.config.server.prefix_cache->tiers[out.size()].shared;
    out.push_back(shared ? make_store(level) : nullptr);
  }
  return out;
}

// The groups of GPUs that these replicas of a pool have.
GroupRange stages_of(const ServingConfig& config, GroupRange replicas) {
  const std::int64_t stages = config.scenario.parallel.pipeline;
  return {replicas.first * stages, replicas.count * stages};
}

}  // namespace

void ServedTotals::add(const ServedTotals& other) {
  const ServingTotals& more = other.totals;
  add_each(totals.moved_bytes, more.moved_bytes);
  add_each(totals.moves, more.moves);
  totals.most_blocks = std::max(totals.most_blocks, more.most_blocks);
  for (std::size_t p = 0; p < pools.size(); ++p) {
    add_each(totals.pools[p].held, more.pools[p].held);
    totals.pools[p].demand.add(more.pools[p].demand);
    totals.pools[p].copies.add(more.pools[p].copies);
    add_each(pools[p].taken, other.pools[p].taken);
  }
  end = std::max(end, other.end);
}

ReplicaGroup::ReplicaGroup(const BuiltServer& built, std::span<IterationCost* const> costs,
                           std::optional<GroupRange> replicas, RequestSource& source,
                           ServingStatistics& statistics, ServingObserver& observer)
    : network_(engine_) {
  TS_EXPECTS(costs.size() == built.pools.size(), costs.size(), built.pools.size());
  parts_.reserve(built.pools.size());  // its elements refer to each other
  std::int64_t first = 0;
  for (std::size_t p = 0; p < built.pools.size(); ++p) {
    const BuiltPool& pool = built.pools[p];
    const GroupRange part = replicas.value_or(GroupRange{.first = first, .count = pool.replicas});
    const auto on_use = [&statistics, &pool](ChannelId channel, SimTime from, SimTime to,
                                             Duration busy) {
      statistics.on_use(pool.first_channel + channel.index(), from, to, busy);
    };
    hardware_.push_back(std::make_unique<ServingHardware>(
        engine_, network_, pool.all, pool.one,
        pool.replicas * pool.config.scenario.parallel.pipeline, on_use,
        stages_of(pool.config, {part.first - first, part.count})));
    if (built.pools.size() == 1 && !moves_blocks(pool.config.server))
      hardware_.back()->set_undisturbed();
    const std::int64_t workers = pool.config.server.host.workers;
    hosts_.push_back(std::make_unique<Resource>(engine_, workers > 0 ? workers : part.count));
    parts_.push_back({.engine = engine_,
                      .config = pool.config,
                      .system = pool.one,
                      .layout = pool.layout,
                      .cost = *costs[p],
                      .hardware = *hardware_.back(),
                      .hosts = *hosts_.back(),
                      .observer = observer,
                      .on_held =
                          [this, &statistics, &pool](TierId tier, std::int64_t bytes) {
                            statistics.on_held(pool.place[tier.index()], engine_.now(), bytes);
                          },
                      .depths = built.depths,
                      .replicas = part,
                      .first = first,
                      .pool = p,
                      .sender = p > 0 ? parts_.data() : nullptr,
                      .shared_tiers = shared_tiers(pool)});
    first += pool.replicas;
  }
  server_.emplace(parts_, source);
}

Expected<ServedTotals> ReplicaGroup::finish() {
  auto totals = server_->finish();
  if (!totals) return Unexpected(totals.error());
  const FlowTotals flows = network_.totals();
  TS_ENSURES(flows.payload_started == flows.payload_finished, flows.payload_started,
             flows.payload_finished);
  ServedTotals out{.totals = *std::move(totals), .pools = {}, .end = engine_.now()};
  for (const auto& hardware : hardware_) {
    ServedTotals::Channels& channels = out.pools.emplace_back();
    channels.taken = hardware->taken();
    for (std::size_t c = 0; c < channels.taken.size(); ++c)
      channels.instances.push_back(hardware->instances(ChannelId(c)));
  }
  return out;
}

}  // namespace tiersim
