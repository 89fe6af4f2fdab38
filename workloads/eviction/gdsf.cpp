#include "workloads/eviction/gdsf.hpp"

#include <algorithm>
#include <tuple>

#include "workloads/eviction/place_order.hpp"

namespace tiersim {
namespace {

struct Value {
  double value = 0;  // H of the header
  std::int64_t turn = 0;
  std::int64_t uses = 0;
  double cost = 0;  // for each block
  bool operator<(const Value& other) const {
    return std::tie(value, turn) < std::tie(other.value, other.turn);
  }
};

class Gdsf final : public PlaceOrder<Value> {
 public:
  void insert(Place place, const Visit& visit) override { put(place, valued(visit, {}, 1)); }
  void hit(Place place, const Visit& visit) override {
    change(place, valued(visit, state(place), 1));
  }
  void release(Place place, const Visit& visit) override {
    state(place) = valued(visit, state(place), 0);
    PlaceOrder::release(place, visit);
  }
  void evict(const Visit* incoming, std::vector<Place>& out) override {
    if (!heap().empty()) age_ = heap().top_key().value;
    PlaceOrder::evict(incoming, out);
  }

 private:
  Value valued(const Visit& visit, Value value, std::int64_t more_uses) {
    value.uses += more_uses;
    value.cost = std::max(value.cost, visit.cost / static_cast<double>(visit.blocks));
    value.value = age_ + static_cast<double>(value.uses) * value.cost;
    value.turn = next_turn();
    return value;
  }

  double age_ = 0;  // L of the header
};

}  // namespace

void register_gdsf(Registry<EvictionKind>& registry) {
  registry.add("gdsf", {"the fewest uses times the time to compute it again, aged",
                        [](std::int64_t) -> std::unique_ptr<EvictionPolicy> {
                          return std::make_unique<Gdsf>();
                        }});
}

}  // namespace tiersim
