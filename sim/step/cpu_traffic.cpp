#include "sim/step/cpu_traffic.hpp"

#include <algorithm>
#include <vector>

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

using namespace literals;

constexpr Bytes kRun = 4_KiB;  // CPUs stream

// Bytes a second of each channel that the traffic takes.
std::vector<Bytes> taken(const MemoryTier& memory, const CpuTraffic& traffic) {
  std::vector<Bytes> busy(memory.channels().size());
  const Bytes a_second = Bytes::from_base(traffic.rate.value.in_base());
  const Bytes reads = scale_down(a_second, traffic.read_share);
  for (const auto& [direction, payload] :
       {std::pair{Direction::read, reads}, std::pair{Direction::write, a_second - reads}})
    if (payload > Bytes{})
      for (const Charge& charge : memory.cost(direction, payload, std::min(kRun, payload)).charges)
        busy[charge.channel] += charge.busy;
  return busy;
}

class BusyMemory final : public MemoryTier {
 public:
  BusyMemory(std::unique_ptr<MemoryTier> memory, const CpuTraffic& traffic)
      : memory_(std::move(memory)),
        traffic_(traffic),
        queueing_(memory_->added_latency(traffic.rate.value, traffic.read_share, kRun)) {
    const std::vector<Bytes> busy = taken(*memory_, traffic);
    for (const Channel& channel : memory_->channels()) {
      const std::int64_t left = channel.capacity.in_base() - busy[channels_.size()].in_base();
      TS_EXPECTS(left > 0, channel.name);
      channels_.push_back({channel.name, Bandwidth::from_base(left)});
    }
  }

  std::span<const Channel> channels() const override { return channels_; }
  Bytes capacity() const override { return memory_->capacity(); }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    AccessCost cost = memory_->cost(direction, payload, run);
    if (direction == Direction::read) cost.latency += queueing_;
    return cost;
  }

  Duration added_latency(Bandwidth rate, double read_share, Bytes run) const override {
    const auto own = static_cast<double>(rate.in_base());
    const auto others = static_cast<double>(traffic_.rate.value.in_base());
    const double reads = (own * read_share + others * traffic_.read_share) / (own + others);
    const Duration both = memory_->added_latency(rate + traffic_.rate.value, reads, run);
    return std::max(Duration{}, both - queueing_);
  }

 private:
  std::unique_ptr<MemoryTier> memory_;
  CpuTraffic traffic_;
  Duration queueing_;  // of the CPUs' traffic alone
  std::vector<Channel> channels_;
};

}  // namespace

void describe(Fields& f, CpuTraffic& c) {
  f.doc("Steady traffic of the host's CPUs in this memory, beside that of the GPUs.");
  f.required("rate", c.rate, "Payload of all CPUs together.", bandwidth_limits());
  f.optional("read_share", c.read_share, "Of that payload; 1 where absent.", in_range(0.0, 1.0));
}

double share_left(const MemoryTier& memory, const CpuTraffic& traffic) {
  const std::vector<Bytes> busy = taken(memory, traffic);
  double least = 1;
  for (std::size_t c = 0; c < busy.size(); ++c) {
    const auto capacity = static_cast<double>(memory.channels()[c].capacity.in_base());
    least = std::min(least, 1 - static_cast<double>(busy[c].in_base()) / capacity);
  }
  return least;
}

std::unique_ptr<MemoryTier> beside(std::unique_ptr<MemoryTier> memory, const CpuTraffic& traffic) {
  return std::make_unique<BusyMemory>(std::move(memory), traffic);
}

}  // namespace tiersim
