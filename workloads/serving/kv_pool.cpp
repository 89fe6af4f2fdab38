#include "workloads/serving/kv_pool.hpp"

#include "sim/base/check.hpp"

namespace tiersim {

KvPool::KvPool(std::int64_t blocks, const std::optional<Prefixes>& prefixes) : blocks_(blocks) {
  TS_EXPECTS(blocks > 0, blocks);
  if (!prefixes) return;
  TS_EXPECTS(prefixes->entry_blocks > 0, prefixes->entry_blocks);
  entry_blocks_ = prefixes->entry_blocks;
  if (prefixes->write_policy == WritePolicy::write_back) {
    cache_.emplace(prefixes->levels);
    return;
  }
  cache_.emplace(std::vector<std::int64_t>{});
  copies_.emplace(prefixes->levels);
}

std::vector<std::int64_t> KvPool::levels_of(std::span<const std::uint64_t> prefix) const {
  if (!copies_) return cache_->find(prefix);
  std::vector<std::int64_t> levels;
  for (const std::uint64_t block : prefix) {
    const bool pooled = !cache_->find(std::span(&block, 1)).empty();
    const std::int64_t level = pooled ? 0 : copies_->level_of(block);
    if (!pooled && level == 0) break;
    levels.push_back(level);
  }
  return levels;
}

// Blocks that are to be stored are pinned, so that they are not evicted before.
void KvPool::write_through(std::span<const std::uint64_t> prefix) {
  if (!copies_) return;
  const PrefixBlocks wanted = copies_->want(prefix);
  cache_->use(wanted);
  storing_ += static_cast<std::int64_t>(wanted.size());
}

std::optional<PrefixCopies::Store> KvPool::next_store(std::int64_t level) {
  return copies_ ? copies_->next(level) : std::nullopt;
}

void KvPool::stored(const PrefixCopies::Store& store) {
  copies_->stored(store);
  if (store.from > 0) return;
  cache_->release(store.blocks);
  storing_ -= static_cast<std::int64_t>(store.blocks.size());
}

// Evicts as many entries as the pool is over its size. Each level that was written to got its
// entries from the next nearer level with writes; levels without capacity are skipped.
void KvPool::make_room(std::vector<BlockMove>& moves) {
  if (!cache_) return;
  const std::int64_t over = own_ + cache_->pooled() * entry_blocks_ - blocks_;
  if (over <= 0) return;
  const PrefixMoves moved = cache_->evict((over + entry_blocks_ - 1) / entry_blocks_);
  std::int64_t from = 0;
  for (std::size_t level = 1; level < moved.written.size(); ++level) {
    if (moved.written[level] == 0) continue;
    const auto to = static_cast<std::int64_t>(level);
    moves.push_back({MoveKind::prefix_store, moved.written[level] * entry_blocks_, from, to});
    from = to;
  }
}

bool KvPool::take(std::int64_t blocks, std::vector<BlockMove>& moves) {
  TS_EXPECTS(blocks >= 0, blocks);
  if (blocks > available()) return false;
  own_ += blocks;
  make_room(moves);
  return true;
}

void KvPool::give(std::int64_t blocks) {
  TS_EXPECTS(0 <= blocks && blocks <= own_, blocks, own_);
  own_ -= blocks;
}

KvPool::Found KvPool::find(std::span<const std::uint64_t> prefix) const {
  Found out;
  if (!cache_) return out;
  for (const std::int64_t level : levels_of(prefix)) {
    ++out.entries;
    if (level > 0) ++out.below;
  }
  out.idle = cache_->idle(prefix.first(static_cast<std::size_t>(out.entries)));
  return out;
}

PrefixBlocks KvPool::pin(std::span<const std::uint64_t> prefix, std::vector<BlockMove>& moves) {
  PrefixBlocks loads;
  if (prefix.empty()) return loads;
  const std::vector<std::int64_t> levels = levels_of(prefix);
  TS_EXPECTS(levels.size() == prefix.size(), levels.size(), prefix.size());
  std::vector<std::int64_t> from;
  for (const std::int64_t level : levels) {
    if (static_cast<std::size_t>(level) >= from.size())
      from.resize(static_cast<std::size_t>(level) + 1);
    ++from[static_cast<std::size_t>(level)];
  }
  cache_->load(prefix);
  if (copies_) copies_->touch(prefix);
  make_room(moves);
  for (std::size_t level = 1; level < from.size(); ++level)
    if (from[level] > 0)
      moves.push_back({MoveKind::prefix_load, from[level] * entry_blocks_,
                       static_cast<std::int64_t>(level), 0});
  for (std::size_t k = 0; k < prefix.size(); ++k) {
    if (levels[k] > 0)
      loads.push_back(prefix[k]);
    else if (cache_->loading(prefix.subspan(k, 1)) == 0)
      write_through(prefix.subspan(k, 1));  // its copy may have been evicted
  }
  TS_ENSURES(used() <= blocks_, used(), blocks_);
  return loads;
}

bool KvPool::is_loading(std::span<const std::uint64_t> prefix) const {
  return cache_ && cache_->loading(prefix) > 0;
}

void KvPool::arrived(std::span<const std::uint64_t> prefix) {
  if (prefix.empty()) return;
  cache_->arrived(prefix);
  write_through(prefix);
}

// Another sequence's copy stays where it made the same entry first. An entry that another one is
// loading counts as arrived.
void KvPool::share(std::span<const std::uint64_t> prefix) {
  if (prefix.empty()) return;
  give(static_cast<std::int64_t>(prefix.size()) * entry_blocks_);
  cache_->use(prefix);
  arrived(prefix);
  TS_ENSURES(used() <= blocks_, used(), blocks_);
}

void KvPool::release(std::span<const std::uint64_t> prefix) {
  if (!prefix.empty()) cache_->release(prefix);
}

}  // namespace tiersim
