#pragma once
// Memory of cancelled processes that an event still points to. Inside of the engine.
#include <cstddef>
#include <unordered_map>

#include "sim/core/engine.hpp"
#include "sim/core/frame_pool.hpp"

namespace tiersim {

/// An event cannot be taken out of the middle of the queue. So when a process is cancelled while
/// its resumption is queued, its frame is destroyed but the memory is kept until that event comes:
/// no new process can have the same address, and the event is known to be void.
class Engine::KeptFrames final : public FramePool::Keeper {
 public:
  KeptFrames() = default;
  KeptFrames(const KeptFrames&) = delete;
  KeptFrames& operator=(const KeptFrames&) = delete;
  ~KeptFrames() {
    for (const auto& [memory, size] : size_of_) FramePool::give_back(memory, size);
  }

  void expect(void* memory) { size_of_.emplace(memory, 0); }
  bool keeps(void* memory, std::size_t size) noexcept override {
    const auto found = size_of_.find(memory);
    if (found == size_of_.end() || found->second != 0) return false;
    found->second = size;
    return true;
  }
  /// Whether `target` is the resumption of a frame kept here, which then is no longer.
  bool release(Target target) {
    if (!target.is_process()) return false;
    const auto found = size_of_.find(target.object());
    if (found == size_of_.end()) return false;
    TS_INVARIANT(found->second != 0);
    FramePool::give_back(found->first, found->second);
    size_of_.erase(found);
    return true;
  }

 private:
  std::unordered_map<void*, std::size_t> size_of_;  // looked up, never walked in an order
};

}  // namespace tiersim
