#include "workloads/eviction/belady.hpp"

#include <tuple>

#include "workloads/eviction/place_order.hpp"

namespace tiersim {
namespace {

struct NextUse {
  std::int64_t next = 0;
  std::int64_t turn = 0;
  // The farthest one leaves first.
  bool operator<(const NextUse& other) const {
    return std::tie(other.next, turn) < std::tie(next, other.turn);
  }
};

class Belady final : public PlaceOrder<NextUse> {
 public:
  void insert(Place place, const Visit& visit) override { put(place, {visit.next, next_turn()}); }
  void hit(Place place, const Visit& visit) override { change(place, {visit.next, next_turn()}); }
  bool admits(const Visit& incoming) const override {
    return !heap().empty() && incoming.next <= heap().top_key().next;
  }
};

}  // namespace

void register_belady(Registry<EvictionKind>& registry) {
  registry.add("belady", {.help = "what is used again last, which needs the future: a bound",
                          .make = [](std::int64_t) -> std::unique_ptr<EvictionPolicy> {
                            return std::make_unique<Belady>();
                          },
                          .needs_future = true});
}

}  // namespace tiersim
