// The tiers of a replica's prefix cache: the bytes that they keep of a block, and the queues of
// their copies.
#include <algorithm>
#include <utility>

#include "sim/serving/replica.hpp"

namespace tiersim {

// Bytes of a level for so many of the pool.
Bytes Replica::stored_bytes(std::int64_t level, Bytes bytes) const {
  if (level == 0) return bytes;
  const auto& tiers = parts_.config.server.prefix_cache->tiers;
  const double ratio = tiers[static_cast<std::size_t>(level) - 1].ratio();
  return ratio == 1 ? bytes : scale_up(bytes, 1 / ratio);
}

// How long a copy between two levels takes beside its bytes: blocks are restored, then compressed
// anew.
Duration Replica::recoding_time(const BlockMove& what) const {
  const auto& prefixes = parts_.config.server.prefix_cache;
  if (!prefixes || !is_of_prefixes(what.kind)) return {};
  const Bytes bytes = move_bytes(what);
  Duration time{};
  const auto add = [&](std::int64_t level, bool restores) {
    if (level == 0) return;
    const auto& compression = prefixes->tiers[static_cast<std::size_t>(level) - 1].compression;
    if (!compression) return;
    time += bytes / (restores ? compression->restore : compression->compress).value;
  };
  add(what.from, true);
  add(what.to, false);
  return time;
}

// The bytes of a copy as they are in the lower of its levels, compressed or not.
Bytes Replica::moved_bytes(const BlockMove& what) const {
  const Bytes bytes = move_bytes(what);
  return is_of_prefixes(what.kind) ? stored_bytes(std::max(what.from, what.to), bytes) : bytes;
}

Duration Replica::time_of(const BlockMove& what) const {
  if (what.blocks == 0 || move_bytes(what) == Bytes{}) return {};
  return plan_of(what).uncontended(parts_.system.channels());
}

// The most blocks whose copy takes no longer than a tier's limit. An entry of more is written where
// none waits.
void Replica::limit_stores() {
  if (!parts_.config.server.prefix_cache) return;
  const auto& tiers = parts_.config.server.prefix_cache->tiers;
  for (std::size_t k = 0; k < tiers.size(); ++k) {
    if (!tiers[k].max_store_wait) continue;
    const auto level = static_cast<std::int64_t>(k) + 1;
    const auto fits = [&](std::int64_t blocks) {
      return time_of({MoveKind::prefix_store, blocks, level - 1, level}) <=
             *tiers[k].max_store_wait;
    };
    std::int64_t most = 1;
    while (most < scheduler_.limits().blocks && fits(2 * most)) most *= 2;
    for (std::int64_t step = most / 2; step > 0; step /= 2)
      if (fits(most + step)) most += step;
    scheduler_.limit_stores(level, most);
  }
}

void Replica::pass_over_long_queues() {
  const auto& prefixes = parts_.config.server.prefix_cache;
  const auto limited = [](const PrefixTier& tier) { return tier.max_load_wait.has_value(); };
  if (!prefixes || std::ranges::none_of(prefixes->tiers, limited)) return;
  std::vector<char> passed(prefixes->tiers.size() + 1, 0);
  for (std::size_t level = 1; level < passed.size(); ++level) {
    const auto& most = prefixes->tiers[level - 1].max_load_wait;
    if (!most) continue;
    const BlockMove queue{MoveKind::prefix_load, loading_[level], static_cast<std::int64_t>(level),
                          0};
    passed[level] = time_of(queue) > *most ? 1 : 0;
  }
  scheduler_.pass_over(std::move(passed));
}

}  // namespace tiersim
