#pragma once
// Memory of coroutine frames: one free list for each size class and thread. Starting a process then
// needs no allocation once as many have run at the same time, and never a lock.
//
// Each block is a heap allocation of its own, so a frame may be returned on another thread than the
// one that took it. The lists of a thread are returned to the heap when the thread ends.
#include <array>
#include <cstddef>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define TS_POISON_FREE_FRAMES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TS_POISON_FREE_FRAMES 1
#endif
#endif
#ifdef TS_POISON_FREE_FRAMES
#include <sanitizer/asan_interface.h>
#endif

namespace tiersim {

class FramePool {
 public:
  /// May claim memory that is being given back.
  class Keeper {
   public:
    virtual bool keeps(void* memory, std::size_t size) noexcept = 0;

   protected:
    ~Keeper() = default;
  };
  /// During its life, `keeper` may claim memory that this thread gives back.
  class KeeperScope {
   public:
    explicit KeeperScope(Keeper& keeper) : outer_(std::exchange(keeper_, &keeper)) {}
    ~KeeperScope() { keeper_ = outer_; }
    KeeperScope(const KeeperScope&) = delete;
    KeeperScope& operator=(const KeeperScope&) = delete;

   private:
    Keeper* outer_;
  };

  static void* take(std::size_t size) {
    const std::size_t index = (size + kStep - 1) / kStep;
    if (index >= kClasses || lists_[index] == nullptr) return take_from_heap(index * kStep);
    Block* block = lists_[index];
    unpoison(block, index * kStep);
    lists_[index] = block->next;
    return block;
  }
  static void give_back(void* memory, std::size_t size) noexcept {
    if (keeper_ != nullptr && keeper_->keeps(memory, size)) return;
    const std::size_t index = (size + kStep - 1) / kStep;
    if (index >= kClasses) return give_to_heap(memory);
    lists_[index] = ::new (memory) Block{lists_[index]};
    poison(memory, index * kStep);
  }
  /// Makes sure that the lists of this thread are returned to the heap when the thread ends.
  static void register_thread();

 private:
  struct Block {
    Block* next;
  };
  struct Reaper;
  static constexpr std::size_t kStep = 64;     // one cache line
  static constexpr std::size_t kClasses = 17;  // frames beyond 1 KiB are not pooled

  static void* take_from_heap(std::size_t size);
  static void give_to_heap(void* memory) noexcept;
  static void release_lists() noexcept;

  // Lets the address sanitizer see the use of a freed frame, as it would without a pool.
#ifdef TS_POISON_FREE_FRAMES
  static void poison(void* memory, std::size_t size) {
    __asan_poison_memory_region(memory, size);
  }
  static void unpoison(void* memory, std::size_t size) {
    __asan_unpoison_memory_region(memory, size);
  }
#else
  static void poison(void*, std::size_t) {}
  static void unpoison(void*, std::size_t) {}
#endif

  // Constant initialisation and no destructor, so that an access is one instruction.
  static inline constinit thread_local std::array<Block*, kClasses> lists_{};
  static inline constinit thread_local Keeper* keeper_ = nullptr;
};

}  // namespace tiersim
