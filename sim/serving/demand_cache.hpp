#pragma once
// Cache of demands in a table in which an entry has two places, and a new one may overwrite
// another. The table grows with its entries up to a stated size. This bounds its memory, and no
// result depends on it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/serving/demand.hpp"

namespace tiersim {

class DemandCache {
 public:
  using Key = std::array<std::int64_t, 4>;

  /// With up to 2^most_bits slots.
  explicit DemandCache(unsigned most_bits = 12) : most_bits_(most_bits) {}

  /// The demand of the key, from `make` if it is missing; valid until the next call.
  template <class Make>
  const Demand& get(const Key& key, const Make& make) {
    if (2 * used_ >= slots_.size() && bits_ < most_bits_) grow();
    const std::size_t first = place(key);
    for (const std::size_t at : {first, first ^ 1U})
      if (slots_[at].used && slots_[at].key == key) return slots_[at].demand;
    Slot& slot = slots_[slots_[first].used && !slots_[first ^ 1U].used ? first ^ 1U : first];
    slot.demand = make();
    slot.key = key;
    used_ += slot.used ? 0 : 1;
    slot.used = true;
    return slot.demand;
  }

 private:
  static constexpr unsigned kLeastBits = 6;
  static constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  struct Slot {
    Key key{};
    bool used = false;
    Demand demand = {};
  };

  std::size_t place(const Key& key) const {
    std::uint64_t mixed = 0;
    for (const std::int64_t part : key) mixed = (mixed ^ static_cast<std::uint64_t>(part)) * kOdd;
    return mixed >> (64U - bits_);
  }
  // Every entry finds room: those of one place lay in two slots, and have two places of their own
  // in the larger table.
  void grow() {
    std::vector<Slot> old = std::exchange(slots_, {});
    bits_ = old.empty() ? std::min(kLeastBits, most_bits_) : bits_ + 1;
    slots_.resize(std::size_t{1} << bits_);
    for (Slot& slot : old) {
      if (!slot.used) continue;
      const std::size_t first = place(slot.key);
      slots_[slots_[first].used ? first ^ 1U : first] = std::move(slot);
    }
  }

  unsigned most_bits_;
  unsigned bits_ = 0;
  std::size_t used_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace tiersim
