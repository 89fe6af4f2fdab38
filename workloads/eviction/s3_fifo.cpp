#include "workloads/eviction/s3_fifo.hpp"

#include <algorithm>

#include "workloads/eviction/ghost_list.hpp"
#include "workloads/eviction/place_lists.hpp"

namespace tiersim {
namespace {

class S3Fifo final : public EvictionPolicy {
 public:
  explicit S3Fifo(std::int64_t capacity)
      : small_most_(std::max<std::int64_t>(1, capacity / 10)), main_most_(capacity - small_most_) {}

  void insert(Place place, const Visit& visit) override {
    if (entries_.size() <= static_cast<std::size_t>(place))
      entries_.resize(static_cast<std::size_t>(place) + 1);
    const bool returns = ghosts_.contains(visit.key);
    if (returns) ghosts_.erase(visit.key);
    entry(place) = {.key = visit.key,
                    .blocks = static_cast<std::int32_t>(visit.blocks),
                    .queue = returns ? kMain : kSmall};
    queues_.append(entry(place).queue, place, visit.blocks);
  }
  void hit(Place place, const Visit& /*visit*/) override {
    entry(place).uses = static_cast<std::int8_t>(std::min(entry(place).uses + 1, 3));
  }
  // It keeps its place until its turn comes, and then comes back as the newest.
  void hold(Place place) override { entry(place).held = true; }
  void release(Place place, const Visit& /*visit*/) override {
    entry(place).held = false;
    if (queues_.list_of(place) < 0) queues_.append(entry(place).queue, place, entry(place).blocks);
  }
  void remove(Place place) override {
    if (queues_.list_of(place) >= 0) queues_.unlink(place);
  }
  void evict(const Visit* /*incoming*/, std::vector<Place>& out) override {
    const std::size_t before = out.size();
    // At most once through each queue for each use that counts.
    while (out.size() == before &&
           (queues_.oldest(kSmall) != kNowhere || queues_.oldest(kMain) != kNowhere)) {
      if (queues_.blocks(kSmall) >= small_most_ || queues_.oldest(kMain) == kNowhere)
        evict_small(out);
      else
        evict_main(out);
    }
  }

 private:
  static constexpr std::int8_t kSmall = 0;
  static constexpr std::int8_t kMain = 1;
  struct Entry {
    std::uint64_t key = 0;
    std::int32_t blocks = 1;
    std::int8_t queue = kSmall;
    std::int8_t uses = 0;  // up to 3
    bool held = false;
  };
  Entry& entry(Place place) { return entries_[static_cast<std::size_t>(place)]; }

  void evict_small(std::vector<Place>& out) {
    for (Place oldest = queues_.oldest(kSmall); oldest != kNowhere;
         oldest = queues_.oldest(kSmall)) {
      Entry& e = entry(oldest);
      queues_.unlink(oldest);
      if (e.held) continue;
      if (e.uses <= 1) {
        out.push_back(oldest);
        remember(e);
        return;
      }
      e.queue = kMain;
      e.uses = 0;
      queues_.append(kMain, oldest, e.blocks);
      if (queues_.blocks(kMain) > main_most_) evict_main(out);
    }
  }
  void evict_main(std::vector<Place>& out) {
    for (Place oldest = queues_.oldest(kMain); oldest != kNowhere; oldest = queues_.oldest(kMain)) {
      Entry& e = entry(oldest);
      queues_.unlink(oldest);
      if (e.held) continue;
      if (e.uses == 0) {
        out.push_back(oldest);
        return;
      }
      --e.uses;
      queues_.append(kMain, oldest, e.blocks);
    }
  }
  void remember(const Entry& e) {
    ghosts_.append(e.key, e.blocks);
    while (!ghosts_.empty() && ghosts_.blocks() > main_most_) ghosts_.drop_oldest();
  }

  std::int64_t small_most_;  // blocks
  std::int64_t main_most_;
  PlaceLists queues_{2};
  GhostList ghosts_;
  std::vector<Entry> entries_;  // by place
};

}  // namespace

void register_s3_fifo(Registry<EvictionKind>& registry) {
  registry.add("s3_fifo", {"three queues: what was not used again soon leaves early",
                           [](std::int64_t capacity) -> std::unique_ptr<EvictionPolicy> {
                             return std::make_unique<S3Fifo>(capacity);
                           }});
}

}  // namespace tiersim
