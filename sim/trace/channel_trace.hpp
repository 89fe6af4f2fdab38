#pragma once
// Counters of a server's links and tiers in a trace (serving_trace.hpp). For each channel, over all
// its instances: the bytes so far, the used share of its capacity and the largest number of
// concurrent operations; each value holds until the next.
//
// The caller calls sample() at the end of every operation; windows of less than a millisecond are
// joined. The counts of the engine's links are exact at any time.
#include <cstdint>
#include <vector>

#include "sim/serving/hardware.hpp"
#include "sim/trace/trace_writer.hpp"

namespace tiersim {

class ChannelTrace {
 public:
  /// All three must outlive this.
  ChannelTrace(const System& system, const ServingHardware& hardware, TraceWriter& writer,
               const std::string& process);

  /// One operation more or fewer moves bytes through the channel.
  void on_flow(ChannelId channel, std::int64_t change);
  void sample(SimTime now);
  /// Writes the last values, at the end of the shown time.
  void close(SimTime now);

 private:
  struct Channel {
    Bytes taken{};             // until the start of the window
    double utilisation = -1;   // value written last; below 0: none
    std::int64_t at_once = 0;  // value written last
    std::int64_t now = 0;
    std::int64_t most = 0;  // largest number in the window
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
