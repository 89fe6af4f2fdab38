#include "sim/core/event_queue.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

EventQueue::EventQueue() {
  run_ = &chunks_.take();
  first_ = last_ = run_->events.data();
}

void EventQueue::extend(unsigned index) {
  Bucket& bucket = buckets_[index];
  Chunk& chunk = chunks_.take();
  chunk.next = nullptr;
  if (bucket.first == nullptr) {
    bucket.first = &chunk;
    occupied_[index / 64] |= std::uint64_t{1} << (index % 64);
  } else {
    bucket.last->next = &chunk;
  }
  bucket.last = &chunk;
  bucket.end = chunk.events.data();
  bucket.capacity = bucket.end + kChunk;
}

EventQueue::Bucket EventQueue::detach(unsigned index) {
  const Bucket bucket = buckets_[index];
  buckets_[index] = {};
  occupied_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
  return bucket;
}

unsigned EventQueue::lowest_bucket() const {
  for (unsigned word = 0; word < occupied_.size(); ++word)
    if (occupied_[word] != 0)
      return word * 64 + static_cast<unsigned>(std::countr_zero(occupied_[word]));
  return kBuckets;
}

/// Files the events of a detached bucket, relative to what base_ is now.
void EventQueue::file_all(const Bucket& bucket) {
  for (Chunk* chunk = bucket.first; chunk != nullptr;) {
    const Event* const end = chunk == bucket.last ? bucket.end : chunk->events.data() + kChunk;
    for (const Event* event = chunk->events.data(); event != end; ++event) file(*event);
    Chunk* const next = chunk->next;
    chunks_.give_back(*chunk);
    chunk = next;
  }
}

/// The run is full, or has no space behind it.
void EventQueue::make_room(std::uint64_t now) {
  Event* const start = run_->events.data();
  if (first_ - start >= static_cast<std::ptrdiff_t>(kChunk / 4)) {
    last_ = std::copy(first_, last_, start);
    first_ = start;
    return;
  }
  Event* split = first_ + (last_ - first_) / 2;
  while (split != first_ && split[-1].time == split->time) --split;  // equal times stay together
  const std::uint64_t old_limit = std::exchange(limit_, split->time);
  // Relative to a later base the events now filed would be lost behind it. That happens when events
  // are pushed from outside after the queue was asked for its next one.
  if (lowest_bucket() == kBuckets) {
    base_ = now;
  } else if (limit_ < base_) {
    rebase(now);
  }
  // The rest of a crowd of one time, of which the run has the first, must stay behind it.
  Bucket crowd;
  if (last_[-1].time == old_limit) crowd = detach(bucket_of(old_limit));
  for (const Event* event = split; event != last_; ++event) file(*event);
  last_ = split;
  file_all(crowd);
}

/// Files everything anew. Lower buckets first, each in its order: equal times are in one bucket.
void EventQueue::rebase(std::uint64_t base) {
  std::array<Bucket, kBuckets> all{};
  for (unsigned index = 0; index < kBuckets; ++index)
    if (buckets_[index].first != nullptr) all[index] = detach(index);
  base_ = base;
  for (const Bucket& bucket : all) file_all(bucket);
}

/// The run is empty. Returns false where the buckets are, too.
bool EventQueue::refill() {
  for (;;) {
    const unsigned index = lowest_bucket();
    if (index == kBuckets) {
      limit_ = kNoLimit;
      return false;
    }
    const unsigned level = index / kDigits;
    Bucket bucket = detach(index);
    Chunk& chunk = *bucket.first;
    if (bucket.first == bucket.last) {
      take(chunk, bucket.end);
      if (level != 0) sort(first_, last_);
      const unsigned shift = level * kDigitBits;
      limit_ = ((first_->time >> shift) + 1) << shift;
      if (lowest_bucket() == kBuckets) limit_ = kNoLimit;
    } else if (level == 0) {  // all of one time: in order as they are
      bucket.first = chunk.next;
      buckets_[index] = bucket;
      occupied_[index / 64] |= std::uint64_t{1} << (index % 64);
      take(chunk, chunk.events.data() + kChunk);
      limit_ = first_->time;
    } else {
      std::uint64_t least = kNoLimit;
      for (const Chunk* at = &chunk; at != nullptr; at = at->next) {
        const Event* const end = at == bucket.last ? bucket.end : at->events.data() + kChunk;
        for (const Event* event = at->events.data(); event != end; ++event)
          least = std::min(least, event->time);
      }
      base_ = least;
      file_all(bucket);
      continue;
    }
    for (std::size_t i = 0; i < kAhead; ++i) prefetch(first_[i]);
    return true;
  }
}

/// Makes `chunk` the run.
void EventQueue::take(Chunk& chunk, Event* end) {
  chunks_.give_back(*run_);
  run_ = &chunk;
  first_ = chunk.events.data();
  last_ = end;
}

/// Stable insertion sort: for a few dozen events nothing is faster.
void EventQueue::sort(Event* first, Event* last) {
  for (Event* event = first + 1; event < last; ++event) {
    const Event moving = *event;
    Event* slot = event;
    for (; slot != first && slot[-1].time > moving.time; --slot) *slot = slot[-1];
    *slot = moving;
  }
}

}  // namespace tiersim
