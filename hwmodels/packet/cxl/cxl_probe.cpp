#include "hwmodels/packet/cxl/cxl_probe.hpp"

#include <cmath>
#include <string>

#include "hwmodels/packet/access_pattern.hpp"
#include "hwmodels/packet/cxl/cxl_fabric.hpp"
#include "hwmodels/packet/probe_window.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {
namespace {

CxlFabric::Shape shape_of(const CxlProbe& probe) {
  CxlFabric::Shape shape;
  shape.outstanding = probe.outstanding_of;
  if (shape.outstanding.empty()) {
    shape.outstanding.assign(static_cast<std::size_t>(probe.hosts), probe.outstanding);
  }
  // Open arrivals wait only for the host's own limit.
  if (probe.offered.in_base() > 0) {
    for (std::int64_t& lines : shape.outstanding) lines = Credits::kUnlimited;
  }
  shape.devices = static_cast<std::size_t>(probe.devices);
  shape.interleave = static_cast<std::uint64_t>(probe.interleave.in_base());
  return shape;
}

/// Jain's fairness index. Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.
double jain_index(const std::vector<Bandwidth>& shares) {
  double sum = 0;
  double squares = 0;
  for (const Bandwidth share : shares) {
    const auto x = static_cast<double>(share.in_base());
    sum += x;
    squares += x * x;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

class CxlProbeRun final : public CxlHostPort::Owner, public EventHandler {
 public:
  CxlProbeRun(const CxlPacketConfig& config, const CxlProbe& probe,
              const std::vector<MemoryPort*>& memories)
      : probe_(probe),
        lines_(probe.size.in_base() / kCxlLine),
        shape_(shape_of(probe)),
        fabric_(engine_, config, shape_, memories, *this),
        window_(shape_.outstanding.size(),
                static_cast<std::int64_t>(
                    std::floor(probe.warm_up * static_cast<double>(probe.accesses * probe.hosts)))),
        reads_(shape_.outstanding.size()) {
    TS_EXPECTS(lines_ > 0 && probe.size == Bytes::from_base(lines_ * kCxlLine), probe.size);
    TS_EXPECTS(static_cast<std::size_t>(probe.hosts) == shape_.outstanding.size(), probe.hosts,
               shape_.outstanding.size());
    for (std::int64_t i = 0; i < probe.hosts; ++i) {
      const std::string name = "cxl host " + std::to_string(i);
      sources_.push_back(
          {AccessPattern(probe.seed, name, probe.addresses == CxlProbe::Addresses::random,
                         probe.size, probe.region, probe.read_share),
           Rng(probe.seed, name + " arrivals"), probe.accesses});
    }
  }

  CxlProbeResult run() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (probe_.offered.in_base() > 0) {
        arrive_later(i);
        continue;
      }
      // Starts enough accesses to keep the host's lines in flight.
      const std::int64_t accesses = (shape_.outstanding[i] + lines_ - 1) / lines_;
      for (std::int64_t n = 0; n < accesses && sources_[i].left > 0; ++n) start(i);
    }
    engine_.run();
    return result();
  }

  void ended(std::size_t host, Direction direction, SimTime since) override {
    const SimTime now = engine_.now();
    window_.ended(now, host, since, probe_.size);
    if (window_.open()) {
      if (direction == Direction::read)
        reads_[host].push_back(now - since);
      else
        writes_.push_back(now - since);
    }
    if (probe_.offered.in_base() == 0 && sources_[host].left > 0) start(host);
  }

  void on_event(Engine&, std::uint64_t host) override {
    start(host);
    if (sources_[host].left > 0) arrive_later(host);
  }

 private:
  struct Source {
    AccessPattern pattern;
    Rng arrivals;
    std::int64_t left;
  };

  void start(std::size_t host) {
    Source& source = sources_[host];
    const AccessPattern::Access access = source.pattern.next();
    window_.began(engine_.now());
    if (--source.left == 0) window_.source_is_dry();
    fabric_.host(host).start(access.direction, access.address, lines_);
  }
  void arrive_later(std::size_t host) {
    const Duration gap = next_arrival(sources_[host].arrivals, probe_.size, probe_.offered);
    engine_.schedule(engine_.now() + gap, *this, host);
  }

  CxlProbeResult result() {
    TS_ENSURES(window_.present() == 0, window_.present());
    CxlProbeResult r;
    r.bandwidth = window_.bandwidth();
    std::vector<Duration> all_reads;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      r.of_host.push_back(window_.bandwidth_of(i));
      all_reads.insert(all_reads.end(), reads_[i].begin(), reads_[i].end());
      r.read_of_host.push_back(summarise(reads_[i]));
    }
    r.jain = jain_index(r.of_host);
    r.read = summarise(all_reads);
    r.write = summarise(writes_);
    r.mean_in_system = window_.mean_present();
    r.elapsed = window_.elapsed();
    r.stays = window_.stays();
    r.accesses = window_.count();
    r.flits_down = fabric_.down().flits();
    r.flits_up = fabric_.up().flits();
    r.slots_used_down = fabric_.down().slots_used();
    r.slots_used_up = fabric_.up().slots_used();
    for (const auto& channel : fabric_.channels()) {
      r.messages += channel->delivered();
      r.messages_left_behind += channel->entered() - channel->delivered();
      for (std::size_t c = 0; c < kCxlClasses; ++c) {
        r.credits_issued += channel->credits(static_cast<CxlClass>(c)).issued();
        r.credits_held += channel->credits(static_cast<CxlClass>(c)).held();
      }
    }
    for (std::size_t i = 0; i < fabric_.devices(); ++i) {
      r.most_at_device = std::max(r.most_at_device, fabric_.device(i).most_at_work());
    }
    r.events = engine_.events();
    return r;
  }

  CxlProbe probe_;
  std::int64_t lines_;
  CxlFabric::Shape shape_;
  Engine engine_;
  CxlFabric fabric_;
  ProbeWindow window_;
  std::vector<Source> sources_;
  std::vector<std::vector<Duration>> reads_;
  std::vector<Duration> writes_;
};

}  // namespace

CxlProbeResult run_cxl_probe(const CxlPacketConfig& config, const CxlProbe& probe,
                             const std::vector<MemoryPort*>& memories) {
  return CxlProbeRun(config, probe, memories).run();
}

}  // namespace tiersim
