#include "sim/trace/channel_trace.hpp"

#include <algorithm>

#include "sim/trace/step_trace_devices.hpp"

namespace tiersim {

ChannelTrace::ChannelTrace(const System& system, const ServingHardware& hardware,
                           TraceWriter& writer, const std::string& process)
    : system_(system),
      hardware_(hardware),
      writer_(writer),
      process_(writer.add_process(process)),
      channels_(system.channels().size()) {}

void ChannelTrace::on_flow(ChannelId channel, std::int64_t change) {
  Channel& at = channels_[channel.index()];
  at.now += change;
  at.most = std::max(at.most, at.now);
}

void ChannelTrace::sample(SimTime now) {
  constexpr Duration kLeast = std::chrono::milliseconds(1);
  if (now - since_ < kLeast) return;
  for (std::size_t c = 0; c < channels_.size(); ++c) show(c, now);
  since_ = now;
}

// Writes the values of the window that ends now, at its begin.
void ChannelTrace::show(std::size_t c, SimTime now) {
  Channel& channel = channels_[c];
  const Bytes taken = hardware_.taken(ChannelId(c));
  if (taken == Bytes{}) return;  // no operation has used it so far
  const std::string& name = system_.channels()[c].name;
  const bool first = channel.utilisation < 0;
  const Bytes more = taken - channel.taken;
  if (first || more > Bytes{}) writer_.counter(process_, name, now, {{"bytes", taken.in_base()}});
  if (first) writer_.counter(process_, name, SimTime{}, {{"bytes", std::int64_t{0}}});
  const Bandwidth all = system_.channels()[c].capacity * hardware_.instances(ChannelId(c));
  const double utilisation = trace_utilisation(more, all, now - since_);
  if (utilisation != channel.utilisation)
    writer_.counter(process_, name, since_, {{"utilisation", utilisation}});
  if (first || channel.most != channel.at_once)
    writer_.counter(process_, name, since_, {{"operations at once", channel.most}});
  channel = {.taken = taken,
             .utilisation = utilisation,
             .at_once = channel.most,
             .now = channel.now,
             .most = channel.now};
}

void ChannelTrace::close(SimTime now) {
  if (now > since_)
    for (std::size_t c = 0; c < channels_.size(); ++c) show(c, now);
  since_ = now;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    if (channels_[c].utilisation < 0) continue;
    const std::string& name = system_.channels()[c].name;
    writer_.counter(process_, name, now, {{"utilisation", 0.0}});
    writer_.counter(process_, name, now, {{"operations at once", channels_[c].now}});
  }
}

}  // namespace tiersim
