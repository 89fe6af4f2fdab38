#include "sim/core/event_queue.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

EventQueue::EventQueue() {
  run_ = &chunks_.take();
  set_run(run_->events.data(), run_->events.data());
}

void EventQueue::push_into_full_run(Event event, std::uint64_t now) {
  make_room(now);
  push(event, now);
}

void EventQueue::file_into_full_bucket(Event event, unsigned index) {
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
  *bucket.end++ = event;
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

/// Files the events of a detached bucket relative to the present base_.
void EventQueue::file_all(const Bucket& bucket) {
  for (Chunk* chunk = bucket.first; chunk != nullptr;) {
    const Event* const end = chunk == bucket.last ? bucket.end : chunk->events.data() + kChunk;
    for (const Event* event = chunk->events.data(); event != end; ++event) file(*event);
    Chunk* const next = chunk->next;
    chunks_.give_back(*chunk);
    chunk = next;
  }
}

/// Makes room behind the run, which has none because it moved on or because it grew.
void EventQueue::make_room(std::uint64_t now) {
  if (last_ - first_ <= kShortRun) {
    Event* const start = run_->events.data();
    set_run(start, std::copy(first_, last_, start));
    return;
  }
  Event* split = first_ + (last_ - first_) / 2;
  while (split != first_ && split[-1].time == split->time) --split;  // equal times stay together
  const std::uint64_t old_limit = std::exchange(limit_, split->time);
  // Relative to a later base, the events filed now would be lost behind it. This happens if events
  // are pushed from outside after the queue gave its next event.
  if (lowest_bucket() == kBuckets) {
    base_ = now;
  } else if (limit_ < base_) {
    rebase(now);
  }
  // The run holds the first of many events of one time; the others must stay behind them.
  Bucket crowd;
  if (last_[-1].time == old_limit) crowd = detach(bucket_of(old_limit));
  for (const Event* event = split; event != last_; ++event) file(*event);
  last_ = split;
  file_all(crowd);
}

/// Files everything again. Lower buckets go first, each in its order: equal times are in one
/// bucket.
void EventQueue::rebase(std::uint64_t base) {
  std::array<Bucket, kBuckets> all{};
  for (unsigned index = 0; index < kBuckets; ++index)
    if (buckets_[index].first != nullptr) all[index] = detach(index);
  base_ = base;
  for (const Bucket& bucket : all) file_all(bucket);
}

/// Refills the empty run. Returns false if the buckets are empty, too.
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
      const unsigned shift = level * kDigitBits;
      take_sorted(chunk, bucket.end, shift);
      limit_ = ((first_->time >> shift) + 1) << shift;
      if (lowest_bucket() == kBuckets) limit_ = kNoLimit;
    } else if (level == 0) {  // all of one time: already in order
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

void EventQueue::set_run(Event* first, Event* last) {
  first_ = first;
  last_ = last;
  space_ = std::min(last + kShortRun, run_->events.data() + kChunk);
}

/// Makes `chunk` the run.
void EventQueue::take(Chunk& chunk, Event* end) {
  chunks_.give_back(*run_);
  run_ = &chunk;
  set_run(chunk.events.data(), end);
}

/// Makes the events of `chunk` the run, sorted. Their times differ only below bit `bits`.
void EventQueue::take_sorted(Chunk& chunk, Event* end, unsigned bits) {
  Event* const begin = chunk.events.data();
  if (end - begin <= kFewEvents) {
    take(chunk, end);
  } else {
    // Sort by the leading bits first: few moves then remain, and their branches are well predicted.
    const unsigned shift = bits > kBinBits ? bits - kBinBits : 0;
    const auto bin_of = [shift](const Event& event) { return event.time >> shift & (kBins - 1); };
    std::array<std::uint8_t, kBins> place{};
    for (const Event* event = begin; event != end; ++event) ++place[bin_of(*event)];
    std::uint8_t before = 0;
    for (std::uint8_t& at : place) {
      const std::uint8_t count = at;
      at = before;
      before = static_cast<std::uint8_t>(before + count);
    }
    Event* const sorted = run_->events.data();
    for (const Event* event = begin; event != end; ++event)
      sorted[place[bin_of(*event)]++] = *event;
    chunks_.give_back(chunk);
    set_run(sorted, sorted + (end - begin));
  }
  // Stable insertion.
  for (Event* event = first_ + 1; event < last_; ++event) {
    if (event[-1].time <= event->time) continue;
    const Event moving = *event;
    Event* slot = event;
    for (; slot != first_ && slot[-1].time > moving.time; --slot) *slot = slot[-1];
    *slot = moving;
  }
}

}  // namespace tiersim
