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

// The groups of GPUs that these replicas have.
GroupRange stages_of(const ServingConfig& config, GroupRange replicas) {
  const std::int64_t stages = config.scenario.parallel.pipeline;
  return {replicas.first * stages, replicas.count * stages};
}

}  // namespace

void ServedTotals::add(const ServedTotals& other) {
  const ServingTotals& more = other.totals;
  add_each(totals.moved_bytes, more.moved_bytes);
  add_each(totals.moves, more.moves);
  add_each(totals.held, more.held);
  totals.most_blocks = std::max(totals.most_blocks, more.most_blocks);
  totals.demand.add(more.demand);
  totals.copies.add(more.copies);
  add_each(taken, other.taken);
  end = std::max(end, other.end);
}

ReplicaGroup::ReplicaGroup(const BuiltServer& built, GroupRange replicas, IterationCost& cost,
                           RequestSource& source, ServingStatistics& statistics,
                           ServingObserver& observer)
    : hardware_(
          engine_, built.all, built.one, built.replicas * built.config.scenario.parallel.pipeline,
          [&statistics](ChannelId channel, SimTime from, SimTime to, Duration busy) {
            statistics.on_use(channel.index(), from, to, busy);
          },
          stages_of(built.config, replicas)),
      hosts_(engine_, built.config.server.host.workers > 0 ? built.config.server.host.workers
                                                           : replicas.count),
      parts_{.engine = engine_,
             .config = built.config,
             .system = built.one,
             .layout = built.layout,
             .cost = cost,
             .hardware = hardware_,
             .hosts = hosts_,
             .observer = observer,
             .on_held =
                 [this, &statistics, &place = built.place](TierId tier, std::int64_t bytes) {
                   statistics.on_held(place[tier.index()], engine_.now(), bytes);
                 },
             .depths = built.depths},
      server_(parts_, source, replicas.first, replicas.count) {
  if (!moves_blocks(built.config.server)) hardware_.set_undisturbed();
}

Expected<ServedTotals> ReplicaGroup::finish() {
  auto totals = server_.finish();
  if (!totals) return Unexpected(totals.error());
  ServedTotals out{.totals = *std::move(totals), .taken = hardware_.taken(), .instances = {}};
  for (std::size_t c = 0; c < out.taken.size(); ++c)
    out.instances.push_back(hardware_.instances(ChannelId(c)));
  out.end = engine_.now();
  return out;
}

}  // namespace tiersim
