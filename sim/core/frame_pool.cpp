#include "sim/core/frame_pool.hpp"

namespace tiersim {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

/// Lives as long as its thread, and frees the thread's lists at the end.
struct FramePool::Reaper {
  Reaper() = default;
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;
  ~Reaper() { release_lists(); }
};

void FramePool::register_thread() {
  thread_local const Reaper reaper;
  static_cast<void>(reaper);
}

void* FramePool::take_from_heap(std::size_t size) {
  register_thread();
  return ::operator new(size, kAlignment);
}

void FramePool::give_to_heap(void* memory) noexcept {
  ::operator delete(memory, kAlignment);
}

void FramePool::release_lists() noexcept {
  for (std::size_t index = 0; index < kClasses; ++index) {
    while (Block* block = lists_[index]) {
      unpoison(block, index * kStep);
      lists_[index] = block->next;
      give_to_heap(block);
    }
  }
}

}  // namespace tiersim
