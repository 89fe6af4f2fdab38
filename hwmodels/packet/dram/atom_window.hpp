#pragma once
// The queue of atoms in front of one pseudo channel: the scheduler sees the oldest ones, and the
// others wait in order. No memory is allocated once the waiting queue has reached its largest size.
#include <cstdint>
#include <cstring>
#include <vector>

#include "sim/base/check.hpp"

namespace tiersim {

/// One access of the DRAM's smallest size. Times are clocks.
struct DramAtom {
  std::int64_t arrival = 0;
  std::uint32_t row = 0;
  std::uint16_t bank = 0;  ///< flat index, as in DramCommand
  bool write = false;
  std::uint32_t tag = 0;  ///< chosen by the caller
};

class AtomWindow {
 public:
  struct Slot {
    DramAtom atom;
    std::int64_t visible;  ///< clock from which the scheduler sees the atom
  };

  AtomWindow(std::size_t capacity, std::size_t banks)
      : slots_(capacity),
        keys_(capacity, kNoKey),
        order_(capacity),
        free_(capacity),
        hits_(banks),
        waiting_(64) {
    for (std::size_t i = 0; i < capacity; ++i) free_[i] = static_cast<std::uint16_t>(i);
  }

  std::size_t size() const { return size_; }
  std::size_t waiting() const { return waiting_count_; }
  bool full() const { return size_ == order_.size(); }
  bool empty() const { return size_ == 0; }
  /// The i-th oldest atom that the scheduler sees.
  const Slot& at(std::size_t i) const { return slots_[order_[i].slot]; }

  std::size_t bank(std::size_t i) const { return order_[i].bank; }

  /// Atoms whose row is open in their bank: of one bank, or of all banks.
  std::size_t hits(std::size_t bank) const { return hits_[bank]; }
  std::size_t hits() const { return all_hits_; }

  /// Adds an atom; true where the scheduler sees it at once.
  bool push(const DramAtom& atom, std::int64_t open_row) {
    if (full()) {
      wait(atom);
      return false;
    }
    admit(atom, atom.arrival, open_row);
    return true;
  }

  /// Removes the i-th oldest atom.
  void remove(std::size_t i, bool hit) {
    const std::uint16_t slot = order_[i].slot;
    if (hit) {
      --hits_[slots_[slot].atom.bank];
      --all_hits_;
    }
    std::memmove(order_.data() + i, order_.data() + i + 1, (size_ - i - 1) * sizeof(Place));
    keys_[slot] = kNoKey;
    --size_;
    free_[free_.size() - size_ - 1] = slot;
  }
  /// The atom that has waited longest. Precondition: one waits, and the window has room for it.
  const DramAtom& next_waiting() const { return waiting_[waiting_head_]; }
  void admit_waiting(std::int64_t visible, std::int64_t open_row) {
    const DramAtom atom = waiting_[waiting_head_];
    waiting_head_ = (waiting_head_ + 1) & (waiting_.size() - 1);
    --waiting_count_;
    admit(atom, visible, open_row);
  }

  /// Records the open row of the bank; -1 for none.
  void opened(std::size_t bank, std::int64_t row) {
    all_hits_ -= hits_[bank];
    std::uint32_t count = 0;
    if (row >= 0 && size_ > 0) {
      const std::uint64_t wanted = key(bank, static_cast<std::uint32_t>(row));
      for (const std::uint64_t each : keys_) count += each == wanted ? 1U : 0U;
    }
    hits_[bank] = static_cast<std::uint16_t>(count);
    all_hits_ += count;
  }

 private:
  struct Place {
    std::uint16_t slot, bank;
  };
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};
  static std::uint64_t key(std::size_t bank, std::uint32_t row) {
    return std::uint64_t{bank} << 32U | row;
  }
  void admit(const DramAtom& atom, std::int64_t visible, std::int64_t open_row) {
    const std::uint16_t slot = free_[free_.size() - size_ - 1];
    slots_[slot] = {atom, visible};
    keys_[slot] = key(atom.bank, atom.row);
    order_[size_++] = {slot, atom.bank};
    if (atom.row == open_row) {
      ++hits_[atom.bank];
      ++all_hits_;
    }
  }
  void wait(const DramAtom& atom) {
    if (waiting_count_ == waiting_.size()) {
      std::vector<DramAtom> larger(waiting_.size() * 2);
      for (std::size_t i = 0; i < waiting_count_; ++i)
        larger[i] = waiting_[(waiting_head_ + i) & (waiting_.size() - 1)];
      waiting_.swap(larger);
      waiting_head_ = 0;
    }
    waiting_[(waiting_head_ + waiting_count_++) & (waiting_.size() - 1)] = atom;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint64_t> keys_;  ///< bank and row of each slot
  std::vector<Place> order_;         ///< by age
  std::vector<std::uint16_t> free_;  ///< a stack whose height is the number of free slots
  std::vector<std::uint16_t> hits_;
  std::vector<DramAtom> waiting_;  ///< ring, its size a power of two
  std::size_t size_ = 0;
  std::size_t all_hits_ = 0;
  std::size_t waiting_head_ = 0;
  std::size_t waiting_count_ = 0;
};

}  // namespace tiersim
