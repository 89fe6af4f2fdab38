#pragma once
// Cache of demands in a table of fixed size, in which a new entry overwrites the one in its slot.
#include <array>
#include <cstdint>
#include <vector>

#include "sim/serving/demand.hpp"

namespace tiersim {

class DemandCache {
 public:
  using Key = std::array<std::int64_t, 4>;

  /// The demand of the key, from `make` if it is missing; valid until the next call.
  template <class Make>
  const Demand& get(const Key& key, const Make& make) {
    if (slots_.empty()) slots_.resize(kSlots);
    std::uint64_t mixed = 0;
    for (const std::int64_t part : key) mixed = (mixed ^ static_cast<std::uint64_t>(part)) * kOdd;
    Slot& slot = slots_[mixed >> (64U - kBits)];
    if (!slot.used || slot.key != key) {
      slot.demand = make();
      slot.key = key;
      slot.used = true;
    }
    return slot.demand;
  }

 private:
  static constexpr unsigned kBits = 12;
  static constexpr std::size_t kSlots = std::size_t{1} << kBits;
  static constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  struct Slot {
    Key key{};
    bool used = false;
    Demand demand = {};
  };
  std::vector<Slot> slots_;
};

}  // namespace tiersim
