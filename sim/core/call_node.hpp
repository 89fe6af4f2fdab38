#pragma once
// The pooled nodes behind events that do not fit into a pointer. Internal to the engine.
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "sim/core/event.hpp"

namespace tiersim {

struct HandlerNode {
  HandlerNode* next_free = nullptr;
  EventHandler* handler = nullptr;
  std::uint64_t payload = 0;
};

struct LanedNode {
  LanedNode* next_free = nullptr;
  Target target;
  Lane lane = Lane::normal;
};

/// A callable of any type, in one cache line.
class alignas(64) CallNode {
 public:
  static constexpr std::size_t kCaptureSize = 40;

  CallNode* next_free = nullptr;

  template <class Function>
  void set(Function&& function) {
    using Callable = std::decay_t<Function>;
    static_assert(sizeof(Callable) <= kCaptureSize && alignof(Callable) <= alignof(void*),
                  "captures too much: keep the state in an object and capture a reference to it");
    ::new (static_cast<void*>(storage_)) Callable(std::forward<Function>(function));
    act_ = [](CallNode& node, Engine* engine) {
      auto* stored = std::launder(reinterpret_cast<Callable*>(node.storage_));
      Callable callable(std::move(*stored));
      stored->~Callable();
      node.act_ = nullptr;
      ++node.generation_;
      if (engine == nullptr) return;
      if constexpr (std::is_invocable_v<Callable&, Engine&>) {
        callable(*engine);
      } else {
        callable();
      }
    };
  }
  /// True while the node holds a callable, that is, until it is called or cancelled.
  bool pending() const { return act_ != nullptr; }
  /// Changes whenever a callable ceases to be pending, so that old tokens are recognised.
  std::uint64_t generation() const { return generation_; }
  /// Removes the callable and calls it, or only destroys it if `engine` is null. Requires
  /// pending().
  void finish(Engine* engine) { act_(*this, engine); }

 private:
  void (*act_)(CallNode&, Engine*) = nullptr;
  std::uint64_t generation_ = 0;
  alignas(void*) std::byte storage_[kCaptureSize];
};
static_assert(sizeof(CallNode) == 64);

/// Identifies one cancellable event for ever; a default-constructed token identifies none.
class Token {
 public:
  Token() = default;
  explicit Token(CallNode& node) : node_(&node), generation_(node.generation()) {}
  bool pending() const { return node_ != nullptr && node_->generation() == generation_; }

 private:
  friend class Engine;
  CallNode* node_ = nullptr;
  std::uint64_t generation_ = 0;
};
using Timer = Token;

}  // namespace tiersim
