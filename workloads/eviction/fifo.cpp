#include "workloads/eviction/fifo.hpp"

#include "workloads/eviction/place_order.hpp"

namespace tiersim {
namespace {

struct Arrival {
  std::int64_t turn = 0;
  bool operator<(const Arrival& other) const { return turn < other.turn; }
};

class Fifo final : public PlaceOrder<Arrival> {
 public:
  void insert(Place place, const Visit& /*visit*/) override { put(place, {next_turn()}); }
  void hit(Place /*place*/, const Visit& /*visit*/) override {}
};

}  // namespace

void register_fifo(Registry<EvictionKind>& registry) {
  registry.add("fifo", {"what came first", [](std::int64_t) -> std::unique_ptr<EvictionPolicy> {
                          return std::make_unique<Fifo>();
                        }});
}

}  // namespace tiersim
