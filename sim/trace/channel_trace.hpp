#pragma once
// Counters of a server's links and tiers in a trace (serving_trace.hpp): of each channel, all of
// its instances together, the bytes that it has taken so far, the share of its capacity that it
// gave and the most operations that moved bytes through it at once; each until the next value.
//
// Whoever measures the channels calls sample() as often as something ends; windows of less than a
// millisecond are joined. What the engine's links have counted is exact at any time.
#include <cstdint>
#include <vector>

#include "sim/serving/hardware.hpp"
#include "sim/trace/trace_writer.hpp"

namespace tiersim {

class ChannelTrace {
 public:
  /// All three outlive it.
  ChannelTrace(const System& system, const ServingHardware& hardware, TraceWriter& writer,
               const std::string& process);

  /// One operation more or less moves bytes through the channel.
  void on_flow(ChannelId channel, std::int64_t change);
  void sample(SimTime now);
  /// The last values, at the end of what is shown.
  void close(SimTime now);

 private:
  struct Channel {
    Bytes taken{};             // until the window began
    double utilisation = -1;   // as shown last; below 0: nothing was
    std::int64_t at_once = 0;  // likewise
    std::int64_t now = 0;
    std::int64_t most = 0;  // in the window
  };
  void show(std::size_t channel, SimTime now);

  const System& system_;
  const ServingHardware& hardware_;
  TraceWriter& writer_;
  int process_;
  std::vector<Channel> channels_;  // by ChannelId
  SimTime since_{};
};

}  // namespace tiersim
