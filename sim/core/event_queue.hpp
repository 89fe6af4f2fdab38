#pragma once
// The pending events in the order of (time, FIFO).
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

#include "sim/core/event.hpp"

namespace tiersim {

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  /// `now` is the time of the simulation: nothing earlier is or will be pushed.
  void push(Event event, std::uint64_t now) {
    static_cast<void>(now);
    heap_.push({event, next_++});
  }
  /// Whether the next event is due at `now`, the time of the simulation.
  bool next_is_at(std::uint64_t now) { return !heap_.empty() && heap_.top().event.time == now; }
  /// The time of the next event; !empty().
  std::uint64_t next_time() { return heap_.top().event.time; }
  /// Takes the next event; !empty().
  Event pop() {
    const Event event = heap_.top().event;
    heap_.pop();
    return event;
  }

 private:
  struct Numbered {
    Event event;
    std::uint64_t number;
    friend bool operator<(const Numbered& a, const Numbered& b) {
      return a.event.time != b.event.time ? a.event.time > b.event.time : a.number > b.number;
    }
  };
  std::priority_queue<Numbered> heap_;
  std::uint64_t next_ = 0;
};

}  // namespace tiersim
