#include "hwmodels/packet/nvlink/nvlink_probe.hpp"

#include <algorithm>
#include <string>

#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {
namespace {

struct Flow {
  std::size_t src = 0;
  std::size_t dst = 0;  ///< equal to src: drawn for each access
  std::int64_t issued = 0;
  std::int64_t done = 0;
  Rng rng;
};

std::vector<Flow> flows_of(const NvlinkWorkload& w) {
  std::vector<Flow> out;
  const auto gpus = static_cast<std::size_t>(w.gpus);
  const auto add = [&](std::size_t src, std::size_t dst) {
    out.push_back({src, dst, 0, 0, Rng(w.seed, "flow " + std::to_string(out.size()))});
  };
  using enum NvlinkPattern;
  for (std::size_t src = 0; src < gpus; ++src) {
    if (w.pattern == uniform) add(src, src);
    for (std::size_t step = 1; step < gpus; ++step) {
      const std::size_t dst = (src + step) % gpus;
      if (w.pattern == all_to_all || (w.pattern == incast && dst == 0) ||
          (w.pattern == point_to_point && src == 0 && dst == 1) ||
          (w.pattern == bidirectional && src + dst == 1))
        add(src, dst);
    }
  }
  return out;
}

class Probe final : public FabricListener, public EventHandler {
 public:
  Probe(const FabricShape& shape, const NvlinkWorkload& workload)
      : workload_(workload), fabric_(engine_, shape), flows_(flows_of(workload)) {}

  NvlinkProbeResult run() {
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (workload_.mean_gap > Duration{}) {
        schedule_arrival(i);
        continue;
      }
      for (std::int64_t k = 0; k < std::min(workload_.outstanding, workload_.accesses); ++k)
        issue(i);
    }
    engine_.run();
    return result();
  }

  // A Poisson arrival of the flow with number payload - 1.
  void on_event(Engine&, std::uint64_t payload) override {
    const std::size_t flow = payload - 1;
    issue(flow);
    if (flows_[flow].issued < workload_.accesses) schedule_arrival(flow);
  }

  void on_done(Engine& engine, std::uint64_t tag) override {
    const std::size_t flow = tag % flows_.size();
    count(engine.now());
    --open_;
    latencies_.push_back(engine.now() - began_[tag / flows_.size()]);
    free_.push_back(tag / flows_.size());
    last_ = engine.now();
    if (++flows_[flow].done == workload_.accesses && by_flow_.empty())
      for (const Flow& f : flows_) by_flow_.push_back(workload_.bytes * f.done);
    if (workload_.mean_gap == Duration{} && flows_[flow].issued < workload_.accesses) issue(flow);
  }

 private:
  void schedule_arrival(std::size_t flow) {
    const auto mean = static_cast<double>(workload_.mean_gap.count());
    const auto gap = static_cast<std::int64_t>(flows_[flow].rng.exponential(mean)) + 1;
    engine_.schedule(engine_.now() + Duration(gap), *this, flow + 1);
  }

  void issue(std::size_t flow) {
    Flow& f = flows_[flow];
    FabricMessage message{.src = f.src, .dst = f.dst, .bytes = workload_.bytes, .listener = this};
    if (f.src == f.dst) {
      const auto others = static_cast<std::uint64_t>(workload_.gpus) - 1;
      message.dst = (f.src + 1 + f.rng.below(others)) % static_cast<std::size_t>(workload_.gpus);
    }
    const bool read = workload_.read_share > 0 && f.rng.uniform() < workload_.read_share;
    message.op = read ? FabricOp::read : FabricOp::write;
    message.until_acknowledged = workload_.until_acknowledged && !read;
    const Bytes granule = fabric_.shape().packet;
    const std::int64_t stride =
        (workload_.bytes.in_base() + granule.in_base() - 1) / granule.in_base();
    // Buffers of a port's flows are adjacent at both ends, so that all links are equally loaded.
    const auto buffer = static_cast<std::int64_t>(f.src + f.dst);
    const std::int64_t place = workload_.random_addresses
                                   ? static_cast<std::int64_t>(f.rng.below(1U << 20U))
                                   : (buffer * workload_.accesses + f.issued) * stride;
    message.address = place * granule.in_base();
    std::size_t slot = began_.size();
    if (free_.empty()) {
      began_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    began_[slot] = engine_.now();
    message.tag = slot * flows_.size() + flow;
    ++f.issued;
    count(engine_.now());
    ++open_;
    fabric_.post(message);
  }

  void count(SimTime now) {
    area_ += Int128{open_} * (now - counted_).count();
    counted_ = now;
  }

  NvlinkProbeResult result() {
    NvlinkProbeResult out;
    out.time = last_.time_since_epoch();
    out.payload = workload_.bytes * static_cast<std::int64_t>(latencies_.size());
    const auto seconds = to_seconds(out.time);
    out.bandwidth = static_cast<double>(out.payload.in_base()) / seconds;
    out.mean_in_system = static_cast<double>(area_) / static_cast<double>(out.time.count());
    out.latency = summarise(latencies_);
    out.payload_by_flow = by_flow_;
    for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(workload_.gpus); ++gpu)
      out.ports.push_back(fabric_.port(gpu));
    out.counters = fabric_.counters();
    out.events = engine_.events();
    return out;
  }

  NvlinkWorkload workload_;
  Engine engine_;
  PacketFabric fabric_;
  std::vector<Flow> flows_;
  std::vector<SimTime> began_;
  std::vector<std::size_t> free_;
  std::vector<Duration> latencies_;
  std::vector<Bytes> by_flow_;
  SimTime last_{};
  SimTime counted_{};
  Int128 area_ = 0;
  std::int64_t open_ = 0;
};

}  // namespace

NvlinkProbeResult run_nvlink_probe(const FabricShape& shape, const NvlinkWorkload& workload) {
  TS_EXPECTS(workload.gpus == shape.gpus && workload.gpus >= 2, workload.gpus, shape.gpus);
  TS_EXPECTS(workload.accesses > 0 && workload.outstanding > 0, workload.accesses);
  TS_EXPECTS(workload.bytes.in_base() > 0, workload.bytes);
  return Probe(shape, workload).run();
}

NvlinkProbeResult run_nvlink_probe(const NvlinkNode& node, const NvlinkWorkload& workload) {
  return run_nvlink_probe(shape_of(node, workload.gpus), workload);
}

}  // namespace tiersim
