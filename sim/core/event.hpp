#pragma once
// What the queue holds: when, and what to do then. Inside of the engine; models use engine.hpp.
#include <cstdint>

namespace tiersim {

class Engine;

/// Order among events of one instant, before FIFO. `urgent` ones run before what is due anyway,
/// `late` ones when nothing else is left to do at that instant.
enum class Lane : std::uint8_t { urgent, normal, late };

/// Receives events. The plain form of a callback, for components with a state of their own.
class EventHandler {
 public:
  /// `payload` is what was given to Engine::schedule().
  virtual void on_event(Engine& engine, std::uint64_t payload) = 0;

 protected:
  ~EventHandler() = default;
};

/// What to do: a pointer to something aligned to eight bytes, and in its low bits what that is.
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
