#pragma once
// Memory of cancelled processes to which an event still points. Internal to the engine.
#include <cstddef>
#include <unordered_map>

#include "sim/core/engine.hpp"
#include "sim/core/frame_pool.hpp"

namespace tiersim {

/// An event cannot be removed from the middle of the queue. So if a process is cancelled while its
/// resumption is queued, its frame is destroyed but the memory is kept until that event comes. No
/// new process can then have the same address, and the event is known to be void.
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
  /// True where `target` is the resumption of a frame kept here, which is then released.
  bool release(Target target) {
    if (size_of_.empty() || !target.is_process()) return false;
    const auto found = size_of_.find(target.object());
    if (found == size_of_.end()) return false;
    TS_INVARIANT(found->second != 0);
    FramePool::give_back(found->first, found->second);
    size_of_.erase(found);
    return true;
  }

 private:
  std::unordered_map<void*, std::size_t> size_of_;  // looked up, never iterated
};

}  // namespace tiersim
