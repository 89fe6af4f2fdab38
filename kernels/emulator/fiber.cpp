#include "kernels/emulator/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <new>

#if !defined(TS_EMULATOR_UCONTEXT)
extern "C" void tiersim_switch_stack(void** save, void* load);
// System V ABI: rdi = address for the stack pointer that is left, rsi = the stack pointer to take.
__asm__(R"(
.text
.globl tiersim_switch_stack
.type tiersim_switch_stack,@function
tiersim_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tiersim_switch_stack,.-tiersim_switch_stack
)");
#endif

namespace tiersim::emulator {
namespace {
constexpr std::size_t kGuard = 4096;  // one page

#if TS_EMULATOR_TSAN
// A thread of ThreadSanitizer takes a millisecond to create, so each stack keeps its own.
struct Identities {
  std::map<const void*, void*> of_stack;
  char made = 0;  // orders work before the start of a fiber before the fiber's work

  void* of(const void* stack) {
    void*& one = of_stack[stack];
    if (one == nullptr) one = __tsan_create_fiber(0);
    return one;
  }
  void forget(const void* stack) {
    const auto found = of_stack.find(stack);
    if (found == of_stack.end()) return;
    __tsan_destroy_fiber(found->second);
    of_stack.erase(found);
  }
};
Identities& identities() {
  static thread_local auto* all = new Identities;  // outlives every pool
  return *all;
}
#endif
}  // namespace

StackPool::~StackPool() {
  for (void* stack : all_) {
#if TS_EMULATOR_TSAN
    identities().forget(stack);
#endif
    munmap(static_cast<char*>(stack) - kGuard, bytes_ + kGuard);
  }
}

void StackPool::give(void* stack) {
  free_.push_back(stack);
}

void* StackPool::take() {
  if (free_.size() <= rest_) {
    void* memory = mmap(nullptr, bytes_ + kGuard, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, kGuard, PROT_NONE) != 0) throw std::bad_alloc();
    all_.push_back(static_cast<char*>(memory) + kGuard);
    return all_.back();
  }
  void* stack = free_.front();
  free_.pop_front();
  return stack;
}

Fiber::~Fiber() {
  abandon();
}

void Fiber::adopt_caller() {
#if TS_EMULATOR_TSAN
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

void Fiber::start(void* stack, std::size_t bytes, void (*entry)()) {
  stack_ = stack;
  stack_bytes_ = bytes;
#if defined(TS_EMULATOR_UCONTEXT)
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack;
  context_.uc_stack.ss_size = bytes;
  context_.uc_link = nullptr;
  makecontext(&context_, entry, 0);
#else
  // The stack looks as if entry had been called: its address is where `ret` finds it, and above
  // that is a return address that ends every backtrace. The stack pointer is 8 below a multiple of
  // 16 when entry begins.
  void** top = reinterpret_cast<void**>((reinterpret_cast<std::uintptr_t>(stack) + bytes) &
                                        ~std::uintptr_t{15});
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  stack_pointer_ = top;
#endif
#if TS_EMULATOR_TSAN
  tsan_fiber_ = identities().of(stack);
  __tsan_release(&identities().made);
#endif
  started_ = true;
}

void Fiber::abandon() {
  if (!started_) return;
  started_ = false;
#if TS_EMULATOR_ASAN
  // It may have stopped in the middle of a function
  __asan_unpoison_memory_region(stack_, stack_bytes_);
#endif
}

TS_EMULATOR_UNSEEN void Fiber::switch_to(Fiber& from, Fiber& to, [[maybe_unused]] bool last) {
#if TS_EMULATOR_TSAN
  __tsan_switch_to_fiber(to.tsan_fiber_, __tsan_switch_to_fiber_no_sync);
#endif
#if TS_EMULATOR_ASAN
  __sanitizer_start_switch_fiber(last ? nullptr : &from.fake_stack_, to.stack_, to.stack_bytes_);
#endif
#if defined(TS_EMULATOR_UCONTEXT)
  swapcontext(&from.context_, &to.context_);
#else
  tiersim_switch_stack(&from.stack_pointer_, to.stack_pointer_);
#endif
#if TS_EMULATOR_ASAN
  __sanitizer_finish_switch_fiber(from.fake_stack_, nullptr, nullptr);
#endif
}

TS_EMULATOR_UNSEEN void Fiber::entered([[maybe_unused]] Fiber& from) {
#if TS_EMULATOR_TSAN
  __tsan_acquire(&identities().made);
#endif
#if TS_EMULATOR_ASAN
  // Records the position of the stack that a later switch returns to.
  __sanitizer_finish_switch_fiber(nullptr, &from.stack_, &from.stack_bytes_);
#endif
}

}  // namespace tiersim::emulator
