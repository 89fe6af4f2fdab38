// Asynchronous copies of a block: cp.async in groups, bulk copies and tensor copies on transaction
// barriers, bulk stores.
#include <cstring>

#include "kernels/emulator/block.hpp"
#include "kernels/emulator/sanitizer.hpp"

namespace tiersim::emulator {
namespace {

constexpr std::uint64_t kInitialised =
    0x7265697272616274;  // content of an initialised barrier's word

}  // namespace

// Runs in the context of the waiting thread, where ThreadSanitizer sees the bytes arrive.
void Block::copy_now(const AsyncCopy& copy) {
  const HardwareWork visible;
  if (copy.bytes > 0) std::memcpy(copy.to, copy.from, copy.bytes);
  std::memset(static_cast<unsigned char*>(copy.to) + copy.bytes, 0, copy.zero_bytes);
}

void Block::async_copy(AsyncCopy copy) {
  const OwnWork scope;
  const std::uint32_t whole = copy.bytes + copy.zero_bytes;
  if (copy.bytes > whole) fail("cp.async of more bytes than its size, or of fewer than none");
  expect_shared(copy.to, whole, whole, "cp.async");
  if (copy.bytes > 0) grid_.memory.read(copy.from, copy.bytes, whole);
  if (grid_.options.landing == Landing::early ||
      (grid_.options.landing == Landing::mixed && by_lot())) {
    copy_now(copy);
    copy.bytes = copy.zero_bytes = 0;
  }
  self().open_copies.push_back(copy);
}

void Block::async_commit() {
  const OwnWork scope;
  Thread& me = self();
  me.copy_groups.push_back(std::move(me.open_copies));
  me.open_copies.clear();
}

void Block::async_wait(std::size_t groups_left) {
  const OwnWork scope;
  Thread& me = self();
  while (me.copy_groups.size() > groups_left) {
    for (const AsyncCopy& copy : me.copy_groups.front()) copy_now(copy);
    me.copy_groups.pop_front();
  }
}

void Block::bulk_store(AsyncCopy copy) {
  expect_shared(copy.from, copy.bytes, 16, "a bulk store");
  if (copy.bytes % 16 != 0) fail("a bulk store moves multiples of 16 bytes");
  grid_.memory.write(copy.to, copy.bytes, 16);
  const OwnWork scope;
  self().open_stores.push_back(copy);
}

void Block::bulk_store_commit() {
  const OwnWork scope;
  Thread& me = self();
  me.store_groups.push_back(std::move(me.open_stores));
  me.open_stores.clear();
}

void Block::bulk_store_wait(std::size_t groups_left) {
  const OwnWork scope;
  Thread& me = self();
  while (me.store_groups.size() > groups_left) {
    for (const AsyncCopy& copy : me.store_groups.front()) store_now(copy);
    me.store_groups.pop_front();
  }
}

void Block::store_now(const AsyncCopy& copy) {
  const auto* from = static_cast<const unsigned char*>(copy.from);
  expect_shown(static_cast<std::size_t>(from - shared_), copy.bytes, "a bulk store");
  copy_now(copy);
}

// Transaction barriers and the copies that complete on them.

TransactionBarrier& Block::barrier(const std::uint64_t* at, const char* what) {
  expect_shared(at, 8, 8, what);
  const auto found = transactions_.find(at);
  if (found == transactions_.end()) fail(std::string(what) + " of a barrier nobody initialised");
  if (*at != kInitialised) fail(std::string(what) + " of a barrier that something overwrote");
  return found->second;
}

void Block::barrier_init(std::uint64_t* at, int arrivals) {
  const OwnWork scope;
  expect_shared(at, 8, 8, "mbarrier.init");
  if (arrivals < 1) fail("mbarrier.init with " + std::to_string(arrivals) + " arrivals");
  if (transactions_.count(at) != 0) fail("mbarrier.init of a barrier in use");
  *at = kInitialised;
  transactions_[at] = {arrivals, arrivals, 0, 0};
}

void Block::complete_phase(std::uint64_t* at, TransactionBarrier& barrier) {
  if (barrier.pending != 0) return;
  if (barrier.bytes < 0) {
    fail("a transaction barrier got " + std::to_string(-barrier.bytes) +
         " bytes more than expect_tx announced");
  }
  if (barrier.bytes > 0) return;
  for (const BulkCopy& copy : bulk_) {
    if (copy.barrier == at && copy.phase == barrier.phase) {
      fail(
          "a phase of a transaction barrier ends with copies of it in flight: expect_tx announced "
          "too few bytes");
    }
  }
  ++barrier.phase;
  barrier.pending = barrier.arrivals;
}

void Block::barrier_arrive(std::uint64_t* at, std::int64_t announced_bytes) {
  release(at);
  const OwnWork scope;
  TransactionBarrier& found = barrier(at, "mbarrier.arrive");
  if (found.pending == 0) fail("more arrivals at a transaction barrier than it was made for");
  found.bytes += announced_bytes;
  --found.pending;
  complete_phase(at, found);
}

void Block::barrier_wait(std::uint64_t* at, unsigned parity, Site site) {
  {
    const OwnWork scope;
    struct Wait {
      TransactionBarrier* barrier;
      unsigned parity;
    } wait{&barrier(at, "mbarrier.try_wait"), parity};
    poll(
        [](void* subject) {
          const Wait& it = *static_cast<Wait*>(subject);
          return (it.barrier->phase & 1U) != it.parity;
        },
        &wait, site);
  }
  acquire(at);
}

void Block::bulk_load(BulkCopy copy) {
  const OwnWork scope;
  for (const BulkCopy::Row& row : copy.rows) {
    expect_shared(row.to, row.bytes, 16, "a bulk copy");
    if (row.from != nullptr) grid_.memory.read(row.from, row.bytes, 16);
  }
  TransactionBarrier& found = barrier(copy.barrier, "a bulk copy");
  copy.phase = found.phase;
  copy.tag = &copy_tags_[copies_issued_++ % copy_tags_.size()];
  release(copy.tag);
  bulk_.push_back(std::move(copy));
  if (grid_.options.landing == Landing::early ||
      (grid_.options.landing == Landing::mixed && by_lot())) {
    BulkCopy now = std::move(bulk_.back());
    bulk_.pop_back();
    land(now);
  }
}

void Block::land(BulkCopy& copy) {
  // The phase is still that of the issue, since complete_phase refuses to end it earlier.
  TransactionBarrier& found = barrier(copy.barrier, "a bulk copy's landing");
  acquire(copy.tag);
  for (const BulkCopy::Row& row : copy.rows) {
    const HardwareWork visible;
    if (row.from != nullptr) {
      std::memcpy(row.to, row.from, row.bytes);
    } else {
      std::memset(row.to, 0, row.bytes);
    }
  }
  for (const BulkCopy::Row& row : copy.rows) {
    const auto at = static_cast<unsigned char*>(row.to) - shared_;
    std::memcpy(async_view_.data() + at, row.to, row.bytes);
  }
  found.bytes -= copy.bytes;
  release(copy.barrier);
  complete_phase(copy.barrier, found);
}

// Lands any one copy in flight, when no thread can run (or at random).
bool Block::land_one() {
  if (bulk_.empty()) return false;
  const std::size_t which = random() % bulk_.size();
  BulkCopy copy = std::move(bulk_[which]);
  bulk_.erase(bulk_.begin() + static_cast<std::ptrdiff_t>(which));
  land(copy);
  return true;
}

}  // namespace tiersim::emulator
