#pragma once
// An event as the queue holds it: its time and its action. Internal to the engine; models use
// engine.hpp.
#include <cstdint>

namespace tiersim {

class Engine;

/// Order among events of one instant, before FIFO. `urgent` events run before all others of the
/// instant, `late` ones when no other event of the instant is left.
enum class Lane : std::uint8_t { urgent, normal, late };

/// Receives events: the plain form of a callback, for components with state.
class EventHandler {
 public:
  /// `payload` is the value given to Engine::schedule().
  virtual void on_event(Engine& engine, std::uint64_t payload) = 0;

 protected:
  ~EventHandler() = default;
};

/// The action of an event: a pointer to an object aligned to eight bytes, with its kind in the low
/// bits.
class Target {
 public:
  enum class Kind : std::uint64_t {
    process,       ///< coroutine frame to resume
    handler,       ///< EventHandler, called with payload 0
    handler_node,  ///< HandlerNode: an EventHandler and its payload
    call_node,     ///< CallNode: a callable, perhaps cancelled
    laned_node,    ///< LanedNode: another Target and a lane that is not `normal`
  };

  Target() = default;
  Target(Kind kind, const void* object)
      : word_(reinterpret_cast<std::uintptr_t>(object) | static_cast<std::uint64_t>(kind)) {}

  bool is_process() const { return (word_ & kKindBits) == 0; }
  Kind kind() const { return static_cast<Kind>(word_ & kKindBits); }
  void* object() const { return reinterpret_cast<void*>(word_ & ~kKindBits); }
  /// The same where is_process() holds, without a mask.
  void* frame() const { return reinterpret_cast<void*>(word_); }
  friend bool operator==(Target, Target) = default;

 private:
  static constexpr std::uint64_t kKindBits = 7;
  std::uint64_t word_ = 0;
};

/// Sixteen bytes, so that four share a cache line. `time` is in picoseconds.
struct Event {
  std::uint64_t time;
  Target target;
};

}  // namespace tiersim
