#pragma once
// The two priority queues of the flow network. The order among equals does not matter: flows that
// finish together are sorted by start before they are delivered.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/core/flow_network_math.hpp"

namespace tiersim::flow {

/// Flows of one group by the progress at which they finish. Progress wraps around, so keys are
/// compared by their difference. A pop leaves a hole at the top that a following push fills: in a
/// closed loop every finish is followed by a start, and the pair costs one descent.
class FinishHeap {
 public:
  /// The progress in two words: as one 128-bit word it would pad the entry to 32 bytes.
  struct Entry {
    std::uint64_t low;
    std::uint64_t high;
    std::uint32_t flow;

    Entry(Ticks finish, std::uint32_t of) { set(finish, of); }
    void set(Ticks finish, std::uint32_t of) {
      low = static_cast<std::uint64_t>(finish);
      high = static_cast<std::uint64_t>(finish >> 64U);
      flow = of;
    }
    Ticks finish() const { return Ticks{high} << 64U | low; }
  };

  /// Reserves space for a few flows: groups are many, and one that first grows long after the start
  /// would allocate then.
  FinishHeap() { entries_.reserve(8); }

  bool empty() const { return entries_.size() == (hole_ ? 1U : 0U); }
  std::size_t size() const { return entries_.size() - (hole_ ? 1U : 0U); }

  const Entry& top() {
    close_hole();
    return entries_.front();
  }
  /// True where some flow finishes at `clock` or before. Keeps an existing hole if it can.
  bool due(Ticks clock) {
    if (empty()) return false;
    if (!hole_) return !after(entries_.front(), clock);
    const std::size_t end = std::min(entries_.size(), kArity + 1);
    for (std::size_t i = 1; i < end; ++i)
      if (!after(entries_[i], clock)) return true;
    return false;
  }
  /// True where the top, which is due at `clock`, is the only flow that is due. Requires !empty().
  bool only_top_due(Ticks clock) {
    close_hole();
    const Entry* const entries = entries_.data();
    const std::size_t size = entries_.size();
    if (size > kArity)
      return (before(clock, entries[1]) & before(clock, entries[2]) & before(clock, entries[3]) &
              before(clock, entries[4])) != 0;
    for (std::size_t i = 1; i < size; ++i)
      if (!after(entries[i], clock)) return false;
    return true;
  }
  void pop() {
    close_hole();
    hole_ = true;
  }
  /// Puts an entry in place of the one that was popped last.
  void replace_popped(Ticks finish, std::uint32_t flow) {
    hole_ = false;
    sink(finish, flow);
  }
  void push(Ticks finish, std::uint32_t flow) {
    if (hole_) return replace_popped(finish, flow);
    const Entry entry(finish, flow);
    std::size_t at = entries_.size();
    entries_.push_back(entry);
    while (at > 0) {
      const std::size_t parent = (at - 1) / kArity;
      if (before(entry, entries_[parent]) == 0) break;
      entries_[at] = entries_[parent];
      at = parent;
    }
    entries_[at] = entry;
  }
  void clear() {
    entries_.clear();
    hole_ = false;
  }
  /// All entries, in no particular order and without a hole.
  const std::vector<Entry>& entries() {
    close_hole();
    return entries_;
  }

 private:
  static constexpr std::size_t kArity = 4;

  /// 1 for true, as a number: the outcome is random, so a branch on it would be mispredicted.
  static std::size_t before(const Entry& a, const Entry& b) {
    return (a.high - b.high - (a.low < b.low ? 1U : 0U)) >> 63U;
  }
  static std::size_t before(Ticks a, const Entry& b) {
    return (static_cast<std::uint64_t>(a >> 64U) - b.high -
            (static_cast<std::uint64_t>(a) < b.low ? 1U : 0U)) >>
           63U;
  }
  static bool after(const Entry& entry, Ticks clock) {
    return static_cast<Int128>(entry.finish() - clock) > 0;
  }
  void close_hole() {
    if (hole_) [[unlikely]]
      fill_hole();
  }
  void fill_hole() {
    hole_ = false;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) sink(last.finish(), last.flow);
  }
  /// Puts an entry in the place of the top. It is passed by its parts, because copying an entry as
  /// a whole right after its parts were written waits for the stores.
  void sink(Ticks finish, std::uint32_t flow) {
    Entry* const entries = entries_.data();
    const std::size_t size = entries_.size();
    std::size_t at = 0;
    std::size_t first = 1;
    for (; first + kArity <= size; first = at * kArity + 1) {
      const Entry* const child = entries + first;
      const std::size_t left = before(child[1], child[0]);
      const std::size_t right = 2 + before(child[3], child[2]);
      const std::size_t least = left ^ ((left ^ right) & (0 - before(child[right], child[left])));
      if (before(finish, child[least]) != 0) {
        entries[at].set(finish, flow);
        return;
      }
      entries[at] = child[least];
      at = first + least;
    }
    if (first < size) {  // the last node, with fewer children
      std::size_t least = first;
      for (std::size_t i = first + 1; i < size; ++i)
        least += (i - least) * before(entries[i], entries[least]);
      if (before(finish, entries[least]) == 0) {
        entries[at] = entries[least];
        at = least;
      }
    }
    entries[at].set(finish, flow);
  }

  std::vector<Entry> entries_;
  bool hole_ = false;
};

/// The candidates to freeze next while solving, by level and then by owner, in one word each: the
/// key.
class LevelHeap {
 public:
  static constexpr unsigned kOwnerBits = 24;
  /// Levels are cut off here: 2^58 B/s per weight.
  static constexpr Level kLevelMax = (Level{1} << (128U - kOwnerBits)) - 1;

  void clear() { keys_.clear(); }
  bool empty() const { return keys_.empty(); }
  static UInt128 key(Level level, std::uint32_t owner) {
    return std::min(level, kLevelMax) << kOwnerBits | owner;
  }
  static Level level_of(UInt128 key) { return key >> kOwnerBits; }
  static std::uint32_t owner_of(UInt128 key) {
    return static_cast<std::uint32_t>(key) & ((1U << kOwnerBits) - 1);
  }
  UInt128 top() const { return keys_.front(); }
  void push(UInt128 key) {
    std::size_t at = keys_.size();
    keys_.push_back(key);
    for (; at > 0 && key < keys_[(at - 1) / kArity]; at = (at - 1) / kArity)
      keys_[at] = keys_[(at - 1) / kArity];
    keys_[at] = key;
  }
  void replace_top(UInt128 key) { sink(0, key); }
  void pop() {
    const UInt128 last = keys_.back();
    keys_.pop_back();
    if (!keys_.empty()) sink(0, last);
  }

 private:
  static constexpr std::size_t kArity = 4;

  void sink(std::size_t at, UInt128 key) {
    UInt128* const keys = keys_.data();
    const std::size_t size = keys_.size();
    std::size_t first = at * kArity + 1;
    for (; first + kArity <= size; first = at * kArity + 1) {
      // Without branches, since which child is the least is random.
      const UInt128* const child = keys + first;
      const std::size_t left = child[1] < child[0] ? 1 : 0;
      const std::size_t right = child[3] < child[2] ? 3 : 2;
      const std::size_t least = child[right] < child[left] ? right : left;
      if (child[least] >= key) {
        keys[at] = key;
        return;
      }
      keys[at] = child[least];
      at = first + least;
    }
    if (first < size) {  // the last node, with fewer children
      std::size_t least = first;
      for (std::size_t i = first + 1; i < size; ++i)
        if (keys[i] < keys[least]) least = i;
      if (keys[least] < key) {
        keys[at] = keys[least];
        at = least;
      }
    }
    keys[at] = key;
  }

  std::vector<UInt128> keys_;
};

/// The next finish of each owner (a link or a group), by time. Owners are numbered densely.
class TimerHeap {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void add_owner() { place_.push_back(kAbsent); }
  std::size_t owners() const { return place_.size(); }
  std::int64_t earliest() const { return heap_.empty() ? kNever : heap_.front().when; }
  std::uint32_t earliest_owner() const { return heap_.front().owner; }

  /// True where the earliest is due at `now` and no other is.
  bool only_earliest_due(std::int64_t now) const {
    const std::size_t size = heap_.size();
    return size > 0 && heap_[0].when <= now && (size < 2 || heap_[1].when > now) &&
           (size < 3 || heap_[2].when > now);
  }
  /// Sets the time of the earliest.
  void set_earliest(std::int64_t when) {
    if (when == kNever) return remove(0);
    heap_.front().when = when;
    if (heap_.size() > 1) settle(0);
  }
  /// Defers the earliest until it is set again.
  void expire_earliest() {
    heap_.front().when = kNever;
    settle(0);
  }

  /// Sets the owner's time; kNever removes the owner.
  void set(std::uint32_t owner, std::int64_t when) {
    std::uint32_t at = place_[owner];
    if (when == kNever) {
      if (at != kAbsent) remove(at);
      return;
    }
    if (at == kAbsent) {
      at = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back({when, owner});
      place_[owner] = at;
    } else if (heap_[at].when == when) {
      return;
    }
    heap_[at].when = when;
    settle(at);
  }

 private:
  static constexpr std::uint32_t kAbsent = 0xffff'ffff;
  struct Entry {
    std::int64_t when;
    std::uint32_t owner;
  };

  void put(std::uint32_t at, Entry entry) {
    heap_[at] = entry;
    place_[entry.owner] = at;
  }
  void remove(std::uint32_t at) {
    place_[heap_[at].owner] = kAbsent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    put(at, last);
    settle(at);
  }
  void settle(std::uint32_t at) {
    const Entry entry = heap_[at];
    while (at > 0 && entry.when < heap_[(at - 1) / 2].when) {
      put(at, heap_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    const auto size = static_cast<std::uint32_t>(heap_.size());
    while (true) {
      std::uint32_t child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && heap_[child + 1].when < heap_[child].when) ++child;
      if (heap_[child].when >= entry.when) break;
      put(at, heap_[child]);
      at = child;
    }
    put(at, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> place_;
};

}  // namespace tiersim::flow
