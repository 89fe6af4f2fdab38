// A separate stack for each CUDA thread, with explicit switches.
//
// On x86-64 a switch saves the six registers that the ABI asks for (about 5 ns); elsewhere, and
// where TS_EMULATOR_UCONTEXT is defined, ucontext does it (about 300 ns). Floating-point modes are
// shared.
#pragma once
#include <cstddef>
#include <deque>
#include <vector>

#include "kernels/emulator/sanitizer.hpp"

#if !defined(__x86_64__) && !defined(TS_EMULATOR_UCONTEXT)
#define TS_EMULATOR_UCONTEXT 1
#endif
#if defined(TS_EMULATOR_UCONTEXT)
#include <ucontext.h>
#endif

namespace tiersim::emulator {

// Stacks with a guard page below each, reused by later blocks.
//
// ThreadSanitizer takes fibers on one stack for one thread, and thus for ordered. A block therefore
// does not reuse the stacks of the block before it. Races between neighbouring blocks are reported;
// those between distant blocks may not be.
class StackPool {
 public:
  explicit StackPool(std::size_t bytes) : bytes_(bytes) {}
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  void* take();  // lowest address; throws std::bad_alloc
  void give(void* stack);
  // Number of stacks that stay unused before one is taken again
  void rest(std::size_t stacks) { rest_ = stacks; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::size_t rest_ = 0;
  std::deque<void*> free_;
  std::vector<void*> all_;
};

// One flow of control. The default one is that of the caller, the scheduler; others start at entry.
class Fiber {
 public:
  Fiber() = default;
  ~Fiber();
  Fiber(Fiber&&) = delete;

  void adopt_caller();                                          // uses the thread's own stack
  void start(void* stack, std::size_t bytes, void (*entry)());  // entry runs at the first switch
  void abandon();                                               // it will not run again
  // Leaves `from` and runs `to`; returns when something switches back. last: `from` never resumes.
  static void switch_to(Fiber& from, Fiber& to, bool last = false);
  static void end_of_launch();       // orders all fibers so far before all later ones
  static void entered(Fiber& from);  // first call of entry; from: the fiber that switched here

 private:
#if defined(TS_EMULATOR_UCONTEXT)
  ucontext_t context_{};
#else
  void* stack_pointer_ = nullptr;
#endif
  const void* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
#if TS_EMULATOR_ASAN
  void* fake_stack_ = nullptr;
#endif
#if TS_EMULATOR_TSAN
  void* tsan_fiber_ = nullptr;
#endif
  bool started_ = false;
};

}  // namespace tiersim::emulator
