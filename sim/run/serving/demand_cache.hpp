#pragma once
// Demands that were worked out before, in a table of fixed size: an entry is overwritten by another
// one of its slot. Keys that differ by 1 lie in different slots.
#include <cstdint>
#include <vector>

#include "sim/run/serving/demand.hpp"

namespace tiersim {

class DemandCache {
 public:
  /// The demand of the key, from `make` where it is not there; valid until another key is asked
  /// for, and beside that of a key that differs by 1.
  template <class Make>
  const Demand& get(std::uint64_t key, const Make& make) {
    if (slots_.empty()) slots_.resize(kSlots);
    Slot& slot = slots_[key * kOdd >> (64U - kBits)];
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
    std::uint64_t key = 0;
    bool used = false;
    Demand demand = {};
  };
  std::vector<Slot> slots_;
};

}  // namespace tiersim
