#pragma once
// Model card: wire
//   Models    a serialiser that sends packets one after the other, then a flight time.
//   Equation  without idle time in between, the n-th byte of a busy period that began at t has left
//             at t + ceil(n / rate): whole picoseconds that do not drift, however short the packets
//             are. A packet has arrived `flight` after its last byte has left.
//   Ignores   errors and replays; the overhead of a protocol, which the caller adds to the size.
//   Valid     calls in the order in which the packets are to leave.
//   Source    definition.
//   Checked   tests/unit/packet/wire_test.cpp
#include <algorithm>
#include <cstdint>

#include "sim/base/check.hpp"
#include "sim/base/units.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

/// Wire wire(64_GBps, 5ns);
/// const Wire::Passage passage = wire.send(engine.now(), 272_B);
/// engine.schedule(passage.arrives, receiver, packet);
class Wire {
 public:
  struct Passage {
    SimTime starts;   ///< its first byte begins to leave
    SimTime leaves;   ///< its last byte has left; the next packet may start
    SimTime arrives;  ///< its last byte has arrived
  };

  /// Preconditions: rate > 0, flight >= 0.
  Wire(Bandwidth rate, Duration flight) : rate_(rate.in_base()), flight_(flight) {
    TS_EXPECTS(rate_ > 0 && flight.count() >= 0, rate_, flight);
  }

  /// Sends `size` >= 0 bytes at `ready`, or after all earlier packets if that is later.
  Passage send(SimTime ready, Bytes size) {
    TS_EXPECTS(size.in_base() >= 0, size);
    const SimTime starts = std::max(ready, free_at());
    if (ready > free_at()) {  // a new busy period: earlier rounding no longer matters
      whole_ = ready;
      remainder_ = 0;
    }
    const SimTime before = whole_;
    advance(static_cast<std::uint64_t>(size.in_base()));
    busy_ += whole_ - before;
    sent_ += size;
    ++packets_;
    return {.starts = starts, .leaves = free_at(), .arrives = free_at() + flight_};
  }

  /// The time at which the last packet so far has left.
  SimTime free_at() const { return remainder_ == 0 ? whole_ : whole_ + Duration(1); }
  Duration flight() const { return flight_; }
  Bandwidth rate() const { return Bandwidth::from_base(rate_); }

  /// Totals so far: bytes, packets, and the time that they take, in whole picoseconds rounded down
  /// for each packet.
  Bytes sent() const { return sent_; }
  std::int64_t packets() const { return packets_; }
  Duration busy() const { return busy_; }

 private:
  /// Largest number of bytes whose product with 1e12, plus a remainder below 1e15, fits into 64
  /// bits.
  static constexpr std::uint64_t kNarrow = 9'000'000;

  void advance(std::uint64_t size) {
    const auto rate = static_cast<std::uint64_t>(rate_);
    constexpr auto kSecond = static_cast<std::uint64_t>(kPicosecondsPerSecond);
    if (size <= kNarrow && rate <= 1000 * kSecond) {
      const std::uint64_t scaled = size * kSecond + remainder_;
      whole_ += Duration(static_cast<std::int64_t>(scaled / rate));
      remainder_ = scaled % rate;
      return;
    }
    const UInt128 scaled = UInt128{size} * kSecond + remainder_;
    const UInt128 picoseconds = scaled / rate;
    if (picoseconds > UInt128{1} << 62U) throw UnitOverflow();
    whole_ += Duration(static_cast<std::int64_t>(picoseconds));
    remainder_ = static_cast<std::uint64_t>(scaled % rate);
  }

  std::int64_t rate_;
  Duration flight_;
  SimTime whole_{};              // end of the last packet, rounded down
  std::uint64_t remainder_ = 0;  // remainder of that rounding, in 1 / rate of a picosecond
  Bytes sent_{};
  std::int64_t packets_ = 0;
  Duration busy_{};
};

}  // namespace tiersim
