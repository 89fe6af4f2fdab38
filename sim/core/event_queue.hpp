#pragma once
// The pending events in the order of (time, FIFO): monotone radix buckets behind a sorted front
// run.
//
// Time never goes back, so an event can be filed by the highest digit in which its time differs
// from `base_`, a time that has been reached (a radix heap: Ahuja, Mehlhorn, Orlin and Tarjan, JACM
// 37:2, 1990; here with digits of four bits). Filing appends to a list. Buckets are in the order of
// time, but are not sorted inside.
//
//            run: sorted                buckets: unsorted, each behind the one before
//   now  [ . .. .  .... ]  limit_  [   ....  ][ .  . .. .. ][  .  ...  .. ......  ] ...
//
// The next events are in the run. An event earlier than `limit_` is inserted there, from the nearer
// end; the others are filed. With few events pending there is no limit and the run has all of them.
// A full run files its later half and lowers the limit. An empty run is refilled from the lowest
// bucket: a bucket of one chunk is sorted and becomes the run; a larger one is filed again,
// relative to its least time, which is about to be reached. So an event moves about log16(pending /
// 64) times.
//
// FIFO among equal times needs no sequence number: equal times are always in one place, filing
// keeps their order, and sorting and inserting are stable.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "sim/core/event.hpp"
#include "sim/core/node_pool.hpp"

namespace tiersim {

class EventQueue {
 public:
  EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// `now` is the present simulated time; no pushed event is earlier.
  void push(Event event, std::uint64_t now) {
    if (event.time >= limit_) return file(event);
    if (event.time < first_[(last_ - first_) / 2].time && first_ != run_->events.data()) {
      Event* slot = --first_;
      for (; slot + 1 != last_ && slot[1].time <= event.time; ++slot) *slot = slot[1];
      *slot = event;
      return;
    }
    if (last_ == space_) [[unlikely]]
      return push_into_full_run(event, now);
    Event* slot = last_++;
    for (; slot != first_ && slot[-1].time > event.time; --slot) *slot = slot[-1];
    *slot = event;
  }

  /// True where an event is pending.
  bool has_next() {
    if (first_ != last_) [[likely]]
      return true;
    return refill();
  }
  /// The next event, after has_next() or next_is_at() has returned true.
  const Event& front() const { return *first_; }
  /// True where the next event is due at `now`, the present simulated time. Unlike next(), this
  /// never changes the order of later events.
  bool next_is_at(std::uint64_t now) {
    if (first_ != last_) return first_->time == now;
    return limit_ <= now && refill() && first_->time == now;
  }
  /// Removes the next event.
  void pop() {
    prefetch(first_[kAhead]);
    ++first_;
  }

 private:
  static constexpr std::size_t kChunk = 128;  // events in the run, and in a piece of a bucket
  static constexpr std::size_t kAhead = 4;
  static constexpr std::ptrdiff_t kShortRun = 24;  // inserting costs less than filing
  static constexpr unsigned kDigitBits = 4;
  static constexpr unsigned kDigits = 1U << kDigitBits;
  static constexpr unsigned kLevels = (64 + kDigitBits - 1) / kDigitBits;
  static constexpr unsigned kBuckets = kLevels * kDigits;
  static constexpr unsigned kBinBits = 6;  // for the first pass of sorting
  static constexpr unsigned kBins = 1U << kBinBits;
  static constexpr std::ptrdiff_t kFewEvents = 6;  // sorted without that pass
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  struct alignas(64) Chunk {
    std::array<Event, kChunk + kAhead + 1> events;  // the end is only ever prefetched
    Chunk* next = nullptr;
    Chunk* next_free = nullptr;
  };
  /// All chunks but the last are full.
  struct Bucket {
    Event* end = nullptr;       ///< place of the next event
    Event* capacity = nullptr;  ///< end of the last chunk
    Chunk* first = nullptr;
    Chunk* last = nullptr;
  };

  /// Prefetches the frame or node that the event will touch.
  static void prefetch(const Event& event) {
    const auto address = reinterpret_cast<std::uintptr_t>(event.target.object());
    __builtin_prefetch(reinterpret_cast<const void*>(address), 1);
    __builtin_prefetch(reinterpret_cast<const void*>(address + 64), 1);
  }
  unsigned bucket_of(std::uint64_t time) const {
    const unsigned level =
        static_cast<unsigned>(std::bit_width((time ^ base_) | 1) - 1) / kDigitBits;
    return level * kDigits + static_cast<unsigned>(time >> (level * kDigitBits)) % kDigits;
  }
  void file(Event event) {
    const unsigned index = bucket_of(event.time);
    Bucket& bucket = buckets_[index];
    if (bucket.end == bucket.capacity) [[unlikely]]
      return file_into_full_bucket(event, index);
    *bucket.end++ = event;
  }

  // Out-of-line parts of the functions above, which then need no callee-saved registers.
  void push_into_full_run(Event event, std::uint64_t now);
  void file_into_full_bucket(Event event, unsigned index);
  Bucket detach(unsigned index);
  unsigned lowest_bucket() const;  // kBuckets if all are empty
  void file_all(const Bucket& bucket);
  void make_room(std::uint64_t now);
  void rebase(std::uint64_t base);
  bool refill();
  void set_run(Event* first, Event* last);
  void take(Chunk& chunk, Event* end);
  void take_sorted(Chunk& chunk, Event* end, unsigned bits);

  Event* first_ = nullptr;  // the run, within *run_
  Event* last_ = nullptr;
  Event* space_ = nullptr;  // end of the space into which the run may grow before make_room()
  std::uint64_t limit_ = kNoLimit;
  /// Not later than any filed event. Every time in a bucket agrees with it above the bucket's
  /// level.
  std::uint64_t base_ = 0;
  Chunk* run_ = nullptr;
  std::array<std::uint64_t, (kBuckets + 63) / 64> occupied_{};  // one bit a bucket
  std::array<Bucket, kBuckets> buckets_{};
  NodePool<Chunk> chunks_;
};

}  // namespace tiersim
