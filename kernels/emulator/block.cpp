#include "kernels/emulator/block.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/emulator/sanitizer.hpp"

namespace tiersim::emulator {
namespace {

constexpr std::size_t kAlignment = 1024;               // of shared memory, for the 128 B swizzle
[[maybe_unused]] constexpr std::size_t kCanary = 256;  // bytes after it that must stay unchanged
constexpr unsigned char kPoison = 0xff;  // NaN in every float format, -1 in every integer
[[maybe_unused]] constexpr unsigned char kCanaryByte = 0xa5;

std::string text(const Site& site) {
  return std::string(site.what) +
         (site.line > 0 ? " (" + std::string(site.file) + ":" + std::to_string(site.line) + ")"
                        : "");
}

// Thrown through a thread that will not continue.
struct Unwound {};

bool same_place(const Site& a, const Site& b) {
  return a.line == b.line && std::strcmp(a.file, b.file) == 0;
}

}  // namespace

Block*& current_block() {
  thread_local Block* block = nullptr;
  return block;
}

void fail(const std::string& why) {
  const OwnWork scope;
  Block* block = current_block();
  if (block == nullptr) throw KernelFailure(why);
  std::string where = " [block (" + std::to_string(block->index.x) + "," +
                      std::to_string(block->index.y) + "," + std::to_string(block->index.z) + ")";
  throw KernelFailure(why + where + block->waiting_threads() + "]");
}

Block::Block(Grid& launch, uint3 place)
    : grid(launch.blocks),
      shape(launch.threads),
      index(place),
      grid_(launch),
      threads_(std::size_t{launch.threads.x} * launch.threads.y * launch.threads.z),
      shared_bytes_(launch.shared_bytes) {
  const std::size_t shared_bytes = shared_bytes_;
  const std::uint64_t number =
      index.x + std::uint64_t{grid.x} * (index.y + std::uint64_t{grid.y} * index.z);
  random.seed(grid_.options.seed * 0x9e3779b97f4a7c15U + number);
#if TS_EMULATOR_ASAN
  shared_memory_ = make_aligned(shared_bytes, kAlignment);
#else
  shared_memory_ = make_aligned(shared_bytes + kCanary, kAlignment);
  std::memset(shared_memory_.get() + shared_bytes, kCanaryByte, kCanary);
#endif
  shared_ = shared_memory_.get();
  std::memset(shared_, kPoison, shared_bytes);
  async_view_.assign(shared_bytes, kPoison);
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    const auto n = static_cast<unsigned>(i);
    thread.linear = static_cast<int>(i);
    thread.index = {n % shape.x, n / shape.x % shape.y, n / (shape.x * shape.y)};
  }
  live_ = thread_count();
  if (threads_.size() % 128 == 0) warpgroups_.resize(threads_.size() / 128);
}

Block::~Block() {
  for (Thread& thread : threads_) {
    thread.fiber.abandon();
    if (thread.stack != nullptr) grid_.stacks.give(thread.stack);
  }
}

TS_EMULATOR_UNSEEN void Block::thread_main() {
  Block& here = block();
  Fiber::entered(here.scheduler_);
  acquire(&here.grid_.began);
  try {
    (*here.kernel_)();
    const OwnWork scope;
    here.finish_thread();
  } catch (const Unwound&) {
  } catch (...) {
    const OwnWork scope;
    here.failure_ = std::current_exception();
  }
  {
    const OwnWork scope;
    here.current_->state = Thread::State::done;
  }
  release(&here.grid_.ended);
  here.leave(true);
}

void Block::run(const std::function<void()>& kernel) {
  kernel_ = &kernel;
  current_block() = this;
  scheduler_.adopt_caller();
  for (Thread& thread : threads_) {
    thread.stack = grid_.stacks.take();
    thread.fiber.start(thread.stack, grid_.stacks.bytes(), &Block::thread_main);
  }
  try {
    schedule();
    if (!failure_) settle();
  } catch (...) {
    failure_ = std::current_exception();
  }
  const std::exception_ptr failure = failure_;
  if (failure) unwind();
  current_block() = nullptr;
  if (failure) std::rethrow_exception(failure);
}

// Unwinds threads that stopped in the middle after a failure, so that their functions release their
// resources.
void Block::unwind() {
  unwinding_ = true;
  for (Thread& thread : threads_) {
    if (thread.state != Thread::State::done && thread.entered) resume(thread);
  }
}

void Block::resume(Thread& thread) {
  current_ = &thread;
  thread.entered = true;
  ++switches;
  Fiber::switch_to(scheduler_, thread.fiber);
  current_ = nullptr;
}

// After the end of a thread nothing orders the reads here.
TS_EMULATOR_UNSEEN void Block::leave(bool last) {
  Thread& thread = *current_;
  Fiber::switch_to(thread.fiber, scheduler_, last);
  if (unwinding_) throw Unwound{};
}

bool Block::wake_pollers() {
  bool woke = false;
  for (Thread& thread : threads_) {
    if (thread.state == Thread::State::polling && thread.ready(thread.subject)) {
      thread.state = Thread::State::ready;
      woke = true;
    }
  }
  return woke;
}

// The threads to run in this round, in order.
void Block::runnable(std::vector<int>& order) {
  order.clear();
  for (const Thread& thread : threads_) {
    if (thread.state == Thread::State::ready) order.push_back(thread.linear);
  }
  if (grid_.options.order == Order::greedy_warp && !order.empty()) {
    const auto in_warp = [&](int thread) { return thread / 32 == greedy_; };
    if (std::none_of(order.begin(), order.end(), in_warp)) {
      greedy_ = order[random() % order.size()] / 32;
    }
    order.erase(std::remove_if(order.begin(), order.end(), [&](int t) { return !in_warp(t); }),
                order.end());
  }
  if (grid_.options.order != Order::in_order) std::shuffle(order.begin(), order.end(), random);
}

void Block::schedule() {
  std::vector<int> order;
  while (live_ > 0) {
    wake_pollers();
    runnable(order);
    if (order.empty()) {
      if (land_one()) continue;
      fail("no thread can go on");
    }
    for (const int next : order) {
      if (thread(next).state != Thread::State::ready) continue;
      resume(thread(next));
      if (failure_) return;
    }
    if (grid_.options.landing == Landing::mixed && by_lot()) land_one();
  }
}

void Block::finish_thread() {
  Thread& me = self();
  if (!me.open_copies.empty() || !me.copy_groups.empty()) {
    fail("a thread ends with asynchronous copies that it never waited for");
  }
  if (!me.open_stores.empty() || !me.store_groups.empty()) {
    fail("a thread ends with bulk stores that it never waited for");
  }
  me.state = Thread::State::done;
  --live_;
  release_all_arrived();
}

void Block::settle() {
  if (!bulk_.empty()) {
    fail("the block ends with " + std::to_string(bulk_.size()) + " bulk copies in flight");
  }
  for (const auto& [at, barrier] : transactions_) {
    if (barrier.bytes != 0) {
      fail("the block ends with " + std::to_string(barrier.bytes) +
           " bytes announced to a transaction barrier and not copied");
    }
  }
  for (const Warpgroup& group : warpgroups_) {
    for (std::size_t t = 0; t < 128; ++t) {
      if (!group.open[t].empty() || !group.groups[t].empty()) {
        fail("the block ends with warpgroup products that nobody waited for");
      }
    }
  }
#if !TS_EMULATOR_ASAN
  for (std::size_t i = 0; i < kCanary; ++i) {
    if (shared_[shared_bytes_ + i] != kCanaryByte) {
      fail("shared memory was written " + std::to_string(i) + " bytes past its end (" +
           std::to_string(shared_bytes_) + " bytes)");
    }
  }
#endif
}

std::string Block::waiting_threads() const {
  std::string all;
  int shown = 0;
  for (const Thread& thread : threads_) {
    if (thread.state == Thread::State::done || thread.state == Thread::State::ready) continue;
    if (++shown > 4) return all + "; ...";
    all += "; thread " + std::to_string(thread.linear) + " waits at " + text(thread.site);
  }
  if (current_ != nullptr) all += "; in thread " + std::to_string(current_->linear);
  return all;
}

void Block::expect_shared(const void* at, std::size_t bytes, std::size_t alignment,
                          const char* what) {
  const auto* address = static_cast<const unsigned char*>(at);
  if (address < shared_ || address + bytes > shared_ + shared_bytes_) {
    fail(std::string(what) + ": " + std::to_string(bytes) +
         " bytes do not lie in the block's shared memory (offset " +
         std::to_string(address - shared_) + " of " + std::to_string(shared_bytes_) + ")");
  }
  if (reinterpret_cast<std::uintptr_t>(at) % alignment != 0) {
    fail(std::string(what) + ": the address in shared memory is not aligned to " +
         std::to_string(alignment));
  }
}

void Block::show_to_async_proxy() {
  const OwnWork scope;
  std::copy_n(shared_, shared_bytes_, async_view_.begin());
}

void Block::expect_shown(std::size_t offset, std::size_t bytes, const char* what) {
  if (std::memcmp(async_view_.data() + offset, shared_ + offset, bytes) == 0) return;
  fail(std::string(what) + " reads shared memory at offset " + std::to_string(offset) +
       " that ordinary stores wrote without fence_async_proxy, or while it was in flight");
}

void Block::synchronize(Site site) {
  char* tag = nullptr;
  {
    const OwnWork scope;
    NamedBarrier& barrier = barriers_[0];
    if (barrier.arrived > 0 && !same_place(barrier.site, site)) {
      fail("divergent __syncthreads: " + text(barrier.site) + " and " + text(site));
    }
    barrier.site = site;
    ++barrier.arrived;
    tag = &barrier_tags_[barrier.generation % 2];
    self().site = site;
    self().subject = &barrier;
    self().state = Thread::State::at_barrier;
  }
  release(tag);
  {
    const OwnWork scope;
    release_all_arrived();
    if (self().state == Thread::State::at_barrier) leave();
  }
  acquire(tag);
}

void Block::release_all_arrived() {
  NamedBarrier& barrier = barriers_[0];
  if (barrier.arrived == 0 || barrier.arrived != live_) return;
  barrier.arrived = 0;
  ++barrier.generation;
  for (Thread& thread : threads_) {
    if (thread.state == Thread::State::at_barrier && thread.subject == &barrier) {
      thread.state = Thread::State::ready;
    }
  }
}

void Block::named_barrier(int id, int count, bool wait, Site site) {
  if (id < 1 || id > 15) fail("named barriers are 1 to 15, not " + std::to_string(id));
  if (count <= 0 || count % 32 != 0) {
    fail("a named barrier takes whole warps, not " + std::to_string(count) + " threads");
  }
  char* tag = nullptr;
  bool released = false;
  {
    const OwnWork scope;
    NamedBarrier& barrier = barriers_[static_cast<std::size_t>(id)];
    if (barrier.arrived > 0 && barrier.expected != count) {
      fail("named barrier " + std::to_string(id) + " is asked for " + std::to_string(count) +
           " threads, before that for " + std::to_string(barrier.expected));
    }
    barrier.expected = count;
    tag = &barrier_tags_[static_cast<std::size_t>(2 * id) + barrier.generation % 2];
    self().site = site;
    self().subject = &barrier;
    if (wait) self().state = Thread::State::at_barrier;
    if (++barrier.arrived == count) {
      barrier.arrived = 0;
      ++barrier.generation;
      for (Thread& thread : threads_) {
        if (thread.state == Thread::State::at_barrier && thread.subject == &barrier) {
          thread.state = Thread::State::ready;
        }
      }
    }
    released = self().state == Thread::State::ready;
  }
  release(tag);
  if (!wait) return;
  {
    const OwnWork scope;
    if (!released) leave();
  }
  acquire(tag);
}

void Block::warp_operation(unsigned mask, int operation, Combine combine, Site site, bool orders) {
  Thread& me = self();
  const int first = me.warp() * 32;
  char* tag = &warp_tags_[static_cast<std::size_t>(me.warp() % 32) * 2];
  if (orders) release(tag);
  {
    const OwnWork scope;
    if ((mask >> me.lane() & 1U) == 0) fail("a lane calls " + text(site) + " outside its mask");
    me.mask = mask;
    me.operation = operation;
    me.site = site;
    me.state = Thread::State::in_warp_operation;
    std::array<Thread*, 32> lanes{};
    bool complete = true;
    for (int lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1U) == 0) continue;
      if (first + lane >= thread_count()) fail(text(site) + " names lanes that the block has not");
      Thread& other = thread(first + lane);
      if (other.state == Thread::State::done) {
        fail(text(site) + " names lane " + std::to_string(lane) + ", which has ended");
      }
      if (other.state != Thread::State::in_warp_operation) {
        complete = false;
      } else if (other.operation != operation || other.mask != mask) {
        complete = false;  // it may first be in another operation with its own lanes
        if ((other.mask >> me.lane() & 1U) == 0) continue;
        fail("lanes of one warp meet in different operations: " + text(site) + " and " +
             text(other.site));
      }
      lanes[static_cast<std::size_t>(lane)] = &other;
    }
    if (complete) {
      if (combine != nullptr) combine(*this, lanes.data());
      for (Thread* lane : lanes) {
        if (lane != nullptr) lane->state = Thread::State::ready;
      }
    } else {
      leave();
    }
  }
  if (orders) acquire(tag);
}

void Block::poll(bool (*ready)(void*), void* subject, Site site) {
  const OwnWork scope;
  Thread& me = self();
  if (ready(subject)) return;
  me.ready = ready;
  me.subject = subject;
  me.site = site;
  me.state = Thread::State::polling;
  leave();
}

}  // namespace tiersim::emulator
