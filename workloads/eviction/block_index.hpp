#pragma once
// Places by 64-bit names of blocks: an open table that is probed in order and shifts back what
// follows an erased name. One read of memory for most lookups; the order of the table is seen by
// nobody.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {

class BlockIndex {
 public:
  /// kNowhere where the name is not in the table.
  Place find(std::uint64_t name) const {
    if (slots_.empty()) return kNowhere;
    for (std::size_t at = home(name);; at = next(at))
      if (slots_[at].place == kNowhere || slots_[at].name() == name) return slots_[at].place;
  }
  /// A name that is not in the table, with a place of 0 or more.
  void insert(std::uint64_t name, Place place) {
    if (8 * (size_ + 1) > 5 * slots_.size()) grow();
    put(name, place);
    ++size_;
  }
  /// A name of the table.
  void erase(std::uint64_t name);
  std::size_t size() const { return size_; }

  /// A mix of all bits (the finaliser of MurmurHash3).
  static std::uint64_t mixed(std::uint64_t name) {
    name ^= name >> 33U;
    name *= 0xFF51AFD7ED558CCDULL;
    name ^= name >> 33U;
    name *= 0xC4CEB9FE1A85EC53ULL;
    return name ^ name >> 33U;
  }

 private:
  // Twelve bytes: a name of 64 bits would take sixteen.
  struct Slot {
    std::uint32_t high = 0;
    std::uint32_t low = 0;
    Place place = kNowhere;

    std::uint64_t name() const { return std::uint64_t{high} << 32U | low; }
  };
  static_assert(sizeof(Slot) == 12);
  std::size_t home(std::uint64_t name) const { return mixed(name) & (slots_.size() - 1); }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  void put(std::uint64_t name, Place place);
  void grow();

  std::vector<Slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace tiersim
