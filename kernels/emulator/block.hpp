// One thread block: its threads as fibers, its shared memory, its barriers, and the scheduler.
//
// Time does not exist here. The scheduler runs threads in an order drawn from the seed, each until
// it blocks. Asynchronous copies land as late (or as early) as the hardware may land them. A
// correct kernel is correct under every order; a kernel that depends on luck fails under some.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/emulator/failure.hpp"
#include "kernels/emulator/fiber.hpp"
#include "kernels/emulator/memory.hpp"
#include "kernels/emulator/types.hpp"

namespace tiersim::emulator {

// in_order: by thread number. shuffled: a new random order each round. greedy_warp: one warp at a
// time runs as far ahead as barriers allow, which finds missing barriers that fair orders hide.
enum class Order { in_order, shuffled, greedy_warp };
// Landing time of asynchronous copies: at the last moment that a wait allows, at once, or at
// random.
enum class Landing { late, early, mixed };

struct Options {
  Order order = Order::shuffled;
  Landing landing = Landing::late;
  std::uint64_t seed = 1;
  std::size_t stack_bytes = 256 * 1024;  // of each thread
};

// Position of a thread in the source of the kernel, for messages.
struct Site {
  const char* what = "";
  const char* file = "";
  int line = 0;
};

struct AsyncCopy {  // cp.async of one thread, ordered by groups
  void* to;
  const void* from;
  std::uint32_t bytes;       // copied
  std::uint32_t zero_bytes;  // then filled with zeros
};

// A wgmma in flight, one thread's part: m64 n<columns> k16, bf16 to fp32.
struct MatrixOperation {
  float* accumulator;  // columns / 2 numbers, poison while in flight
  int columns;
  bool a_in_registers;
  bool b_transposed;  // B has its columns (n) contiguous in memory
  bool accumulate;
  std::array<unsigned, 4> a;
  std::uint64_t descriptor_a;
  std::uint64_t descriptor_b;
  // Content of the accumulators before; empty: from an earlier operation
  std::vector<float> before;
};

struct Thread {
  enum class State { ready, polling, at_barrier, in_warp_operation, done };
  uint3 index{};
  int linear = 0;
  State state = State::ready;
  Site site;
  Fiber fiber;
  void* stack = nullptr;
  bool entered = false;  // true once it has run, if only in part
  // A warp operation: its lanes, its identity, and the input and output of this lane.
  unsigned mask = 0;
  int operation = 0;
  alignas(16) std::array<unsigned char, 48> in{};
  alignas(16) std::array<unsigned char, 48> out{};
  // Polling: the thread continues when ready(subject) is true.
  bool (*ready)(void* subject) = nullptr;
  void* subject = nullptr;
  // Asynchronous work issued by this thread, committed in groups.
  std::vector<AsyncCopy> open_copies;
  std::deque<std::vector<AsyncCopy>> copy_groups;
  std::vector<AsyncCopy> open_stores;  // bulk copies from shared to global memory
  std::deque<std::vector<AsyncCopy>> store_groups;

  int warp() const { return linear / 32; }
  int lane() const { return linear % 32; }
};

// A transaction barrier (mbarrier), kept beside shared memory and keyed by its address.
struct TransactionBarrier {
  int arrivals = 0;  // number that completes a phase
  int pending = 0;   // arrivals still missing in this phase
  std::int64_t bytes =
      0;  // announced and not yet landed; negative: landed before they were announced
  std::uint64_t phase = 0;
};

struct BulkCopy {  // cp.async.bulk and TMA: rows of bytes into shared memory, completing on a
                   // barrier
  struct Row {
    void* to;
    const void* from;  // null: zeros (outside the tensor)
    std::uint32_t bytes;
  };
  std::vector<Row> rows;
  std::uint64_t* barrier;
  std::uint64_t phase;  // of the barrier when it was issued
  std::int64_t bytes;   // bytes that the barrier counts
  char* tag = nullptr;  // orders the issue before the landing, for ThreadSanitizer
};

// State shared by all blocks of a launch. The two tags order every block after all work before the
// launch, and before all work after it. Blocks have no order among themselves.
struct Grid {
  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes = 0;
  Options options;
  Memory& memory;
  StackPool& stacks;
  char began = 0;
  char ended = 0;
};

class Block {
 public:
  // A block must be made, run and destroyed within an OwnWork.
  Block(Grid& grid, uint3 index);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Runs the kernel to its end in every thread; throws KernelFailure.
  void run(const std::function<void()>& kernel);

  // ---- for code that runs in a thread of this block
  Thread& self() { return *current_; }
  void* shared() { return shared_; }
  std::size_t shared_bytes() const { return shared_bytes_; }
  // Throws unless [at, at + bytes) lies in this block's shared memory, aligned.
  void expect_shared(const void* at, std::size_t bytes, std::size_t alignment, const char* what);
  // Copies and wgmma access shared memory through the async proxy, which sees ordinary stores only
  // after fence_async_proxy. show_to_async_proxy() publishes all stores so far. expect_shown()
  // throws where bytes that the hardware reads differ from those in the proxy.
  void show_to_async_proxy();
  void expect_shown(std::size_t offset, std::size_t bytes, const char* what);
  Memory& memory() { return grid_.memory; }

  void synchronize(Site site);  // __syncthreads
  void named_barrier(int id, int threads, bool wait, Site site);
  // All lanes of the mask contribute `in`, and the last to arrive runs combine once.
  using Combine = void (*)(Block& block, Thread* const* lanes);
  void warp_operation(unsigned mask, int operation, Combine combine, Site site,
                      bool orders = false);
  void poll(bool (*ready)(void*), void* subject, Site site);

  // ---- asynchronous copies
  void async_copy(AsyncCopy copy);
  void async_commit();
  void async_wait(std::size_t groups_left);
  void bulk_store(AsyncCopy copy);
  void bulk_store_commit();
  void bulk_store_wait(std::size_t groups_left);
  void bulk_load(BulkCopy copy);
  TransactionBarrier& barrier(const std::uint64_t* at, const char* what);
  void barrier_init(std::uint64_t* at, int arrivals);
  void barrier_arrive(std::uint64_t* at, std::int64_t announced_bytes);
  void barrier_wait(std::uint64_t* at, unsigned parity, Site site);

  // ---- warpgroup products (matrix.cpp)
  struct Warpgroup {
    std::array<std::vector<MatrixOperation>, 128> open;
    std::array<std::deque<std::vector<MatrixOperation>>, 128> groups;
    std::array<bool, 128> fenced{};
    int waiting = 0;
    std::size_t groups_left = 0;  // limit of the groups in flight that the threads wait for
    std::uint64_t generation = 0;
  };
  Warpgroup& warpgroup();  // of the running thread; throws in a block without whole warpgroups

  const dim3 grid, shape;
  const uint3 index;
  std::mt19937_64 random;
  std::uint64_t switches = 0;
  int thread_count() const { return static_cast<int>(threads_.size()); }
  Thread& thread(int linear) { return threads_[static_cast<std::size_t>(linear)]; }
  std::string waiting_threads() const;  // for messages

 private:
  struct NamedBarrier {
    int expected = 0;
    int arrived = 0;
    std::uint64_t generation = 0;
    Site site;
  };

  static void thread_main();
  void resume(Thread& thread);
  void leave(bool last = false);  // switches to the scheduler
  void unwind();
  void schedule();
  bool wake_pollers();
  void runnable(std::vector<int>& order);
  void release_all_arrived();
  void finish_thread();
  void settle();  // after the last thread: throws where something is in flight
  bool land_one();
  void land(BulkCopy& copy);
  void complete_phase(std::uint64_t* at, TransactionBarrier& barrier);
  void copy_now(const AsyncCopy& copy);
  void store_now(const AsyncCopy& copy);
  bool by_lot() { return (random() & 1) != 0; }

  Grid& grid_;
  std::vector<Thread> threads_;
  Fiber scheduler_;
  Thread* current_ = nullptr;
  const std::function<void()>* kernel_ = nullptr;
  std::exception_ptr failure_;
  bool unwinding_ = false;
  int live_ = 0;

  AlignedBytes shared_memory_;
  // Ends at its last byte, so that AddressSanitizer sees an access beyond
  unsigned char* shared_ = nullptr;
  std::size_t shared_bytes_ = 0;
  std::vector<unsigned char> async_view_;  // of shared memory
  std::array<NamedBarrier, 16> barriers_;
  std::map<const std::uint64_t*, TransactionBarrier> transactions_;
  std::deque<BulkCopy> bulk_;
  std::vector<Warpgroup> warpgroups_;
  int greedy_ = -1;
  // Addresses that represent synchronisation for ThreadSanitizer. There are two of each, used by
  // turns, since a fast thread may reach the next barrier before a slow one has left this one.
  std::array<char, 32> barrier_tags_{};
  std::array<char, 256> copy_tags_{};
  std::size_t copies_issued_ = 0;
  std::array<char, 64> warp_tags_{};
};

// The block that runs on this host thread; null outside a launch.
Block*& current_block();
inline Block& block() {
  return *current_block();
}

}  // namespace tiersim::emulator
