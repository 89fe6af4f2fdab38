// A CXL link between a host and an expander, with memory behind it, and a pool behind a switch.
#include <cmath>

#include <fmt/format.h>

#include "hwmodels/packet/cxl/cxl_fabric.hpp"
#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "hwmodels/packet/cxl/from_flow.hpp"
#include "hwmodels/packet/dram_memory.hpp"
#include "sim/core/engine.hpp"
#include "sim/validate/fidelity_map_devices.hpp"

namespace tiersim::fidelity_map {
namespace {

using namespace literals;
using enum LevelMeasure::Kind;

constexpr std::int64_t kExpanders = 8;
constexpr std::int64_t kFewLines = 16;
constexpr std::int64_t kManyLines = 4096;
constexpr Bytes kRun = 4_KiB;
constexpr Bytes kLine = 64_B;
constexpr Bytes kRandomPayload = 8_MiB;

// The parts common to all workloads of the link.
struct Cxl {
  CxlConfig config;
  CxlPacketConfig pool;   // with its switch
  CxlPacketConfig alone;  // without a switch
  std::unique_ptr<Link> link;

  explicit Cxl(const CxlConfig& c)
      : config(c), pool(with_flow(*c.packet_level, c)), alone(pool), link(make_device(c)) {
    alone.pool_switch.reset();
  }
};

// Equal modules behind the expander: the device's peak divided by that of one packet-level module.
struct Module {
  DramConfig config;
  std::shared_ptr<MemoryTier> device;
  std::size_t count;

  explicit Module(const DramConfig& c) : config(c), device(make_device(c)), count(1) {
    const auto map = AddressMap::make(c.packet_level->address_map);
    TS_EXPECTS(map.has_value(), c.channels());
    const double channels = static_cast<double>(DramShape(*map).pseudo_channels);
    const double one = static_cast<double>(channel_peak(*c.packet_level).in_base()) * channels;
    count = static_cast<std::size_t>(
        std::max(1L, std::lround(static_cast<double>(c.peak.value.in_base()) / one)));
  }
};

LevelAnswer answer_in(double value, const CxlProbeResult& r, const CxlProbe& probe) {
  return {value, r.events, probe.size * r.accesses};
}
std::function<LevelAnswer()> packets(const CxlPacketConfig& config, const CxlProbe& probe) {
  return [config, probe] {
    const CxlProbeResult r = run_cxl_probe(config, probe);
    return answer_in(r.bandwidth / 1_GBps, r, probe);
  };
}
std::function<LevelAnswer()> packets(const CxlPacketConfig& config, const CxlProbe& probe,
                                     const Module& module) {
  return [config, probe, dram = *module.config.packet_level, count = module.count] {
    DramMemory memory(dram, count);
    const CxlProbeResult r = run_cxl_probe(config, probe, {&memory});
    return answer_in(r.bandwidth / 1_GBps, r, probe);
  };
}

CxlProbe probe_of(Bytes payload, Bytes size, double read_share, CxlProbe::Addresses addresses) {
  CxlProbe probe;
  probe.size = size;
  probe.read_share = read_share;
  probe.addresses = addresses;
  probe.accesses = payload.in_base() / size.in_base();
  return probe;
}
CxlProbe cxl_stream(Bytes payload, double read_share) {
  return probe_of(payload, kRun, read_share, CxlProbe::Addresses::sequential);
}

// Two reads of one host that begin at the same time.
class InOrderLines final : public CxlHostPort::Owner {
 public:
  explicit InOrderLines(const CxlPacketConfig& config)
      : fabric_(engine_, config, {.outstanding = {config.host.outstanding.value}}, {}, *this) {}

  LevelAnswer run(Bytes ahead, Bytes behind) {
    fabric_.host(0).start(Direction::read, 0, ahead.in_base() / kLine.in_base());
    fabric_.host(0).start(Direction::read, static_cast<std::uint64_t>(ahead.in_base()),
                          behind.in_base() / kLine.in_base());
    engine_.run();
    return {to_seconds(engine_.now().time_since_epoch()) * 1e9, engine_.events(), ahead + behind};
  }
  void ended(std::size_t, Direction, SimTime) override {}

 private:
  Engine engine_;
  CxlFabric fabric_;
};

void add_alone(Workloads& list, const Cxl& cxl) {
  const LevelMeasure rate{};
  for (const double reads : {1.0, 0.0}) {
    const bool read = reads > 0;
    list.add({read ? "stream" : "write-stream",
              fmt::format("64 MiB {} in order", read ? "read" : "written"), true},
             rate, {ask_of(*cxl.link, read ? Direction::read : Direction::write, kBulk, kRun)},
             packets(cxl.alone, cxl_stream(kBulk, reads)));
  }
  list.add(
      {"mixed", "2:1 reads and writes of 64 B"}, rate, mixed_asks(*cxl.link, kRandomPayload, kLine),
      packets(cxl.alone, probe_of(kRandomPayload, kLine, 2.0 / 3, CxlProbe::Addresses::random)));
  CxlPacketConfig few = cxl.alone;
  few.host.outstanding.value = kFewLines;
  CxlProbe limited = probe_of(2_MiB, kLine, 1, CxlProbe::Addresses::random);
  limited.outstanding = kFewLines;
  LevelAccess access = ask_of(*cxl.link, Direction::read, 2_MiB, kLine);
  limit(access, kLine, {kFewLines, kLine}, {}, {cxl.link.get()});
  list.add({"lines", fmt::format("64 B reads, {} in flight", kFewLines)}, rate, {access},
           packets(few, limited));
  LevelAccess ahead = ask_of(*cxl.link, Direction::read, kAhead, kAhead);
  LevelAccess behind = ask_of(*cxl.link, Direction::read, kLine, kLine);
  ahead.latency = latency_of(ahead);
  behind.latency = latency_of(behind);
  list.add({"behind", "read of 64 B behind 1 MiB"}, {.kind = time_of_one, .index = 1},
           {ahead, behind}, [alone = cxl.alone] { return InOrderLines(alone).run(kAhead, kLine); });
}

// Limited by the wire only: more lines may be in flight than any of the transfers has.
void add_single_transfers(Workloads& list, const Cxl& cxl) {
  CxlPacketConfig config = cxl.alone;
  config.host.outstanding.value = kManyLines;
  config.device.outstanding.value = kManyLines;
  for (Sourced<std::int64_t>* credits :
       {&config.credits.requests, &config.credits.writes, &config.credits.responses})
    credits->value = kManyLines;
  for (const std::int64_t lines : kTransferPackets) {
    CxlProbe probe = cxl_stream(kLine * lines, 1);
    probe.size = kLine * lines;
    probe.accesses = 1;
    probe.outstanding = lines;
    probe.warm_up = 0;
    LevelAccess access = ask_of(*cxl.link, Direction::read, probe.size, probe.size);
    access.latency = latency_of(access);
    list.add(
        {fmt::format("transfer-{}", lines),
         fmt::format("one read of {} line{}", lines, lines > 1 ? "s" : ""), lines >= kAlikeFrom},
        {.kind = time_of_one}, {access}, [config, probe] {
          const CxlProbeResult r = run_cxl_probe(config, probe);
          return answer_in(to_seconds(r.elapsed) * 1e9, r, probe);
        });
  }
}

void add_behind_module(Workloads& list, const Cxl& cxl, const Module& module) {
  const LevelMeasure rate{};
  const auto through = [&](Direction direction, Bytes payload, Bytes run) {
    LevelAccess access = ask_of(*cxl.link, direction, payload, run);
    add_part(access, *module.device, module.device->cost(direction, payload, run));
    if (direction == Direction::read)
      limit(access, kLine, {cxl.alone.host.outstanding.value, kLine}, {}, {cxl.link.get()},
            module.device.get());
    return access;
  };
  list.add({"stream", "64 MiB read in order"}, rate, {through(Direction::read, kBulk, kRun)},
           packets(cxl.alone, cxl_stream(kBulk, 1), module));
  for (const NamedSize& run : kGatherRuns)
    list.add({std::string("read-") + run.id, std::string("random reads of ") + run.text}, rate,
             {through(Direction::read, kRandomPayload, run.size)},
             packets(cxl.alone, probe_of(kRandomPayload, run.size, 1, CxlProbe::Addresses::random),
                     module));
  LevelAccess reads = through(Direction::read, kRandomPayload * 2, kLine);
  LevelAccess writes = through(Direction::write, kRandomPayload, kLine);
  reads.weight = 2;
  writes.weight = 1;
  list.add({"mixed", "2:1 reads and writes of 64 B"}, rate, {reads, writes},
           packets(cxl.alone, probe_of(kRandomPayload, kLine, 2.0 / 3, CxlProbe::Addresses::random),
                   module));
}

// One host that reads from many modules, and two hosts that read from one.
void add_pools(Workloads& list, const Cxl& cxl) {
  std::vector<LevelAccess> accesses;
  for (std::size_t i = 0; i < std::size_t{kExpanders}; ++i) {
    LevelAccess access =
        ask_of(*cxl.link, Direction::read, Bytes::from_base(kRandomPayload.in_base() / kExpanders),
               kLine, 1 + i);
    add_part(access, *cxl.link, access.parts.front().cost, 0);
    accesses.push_back(std::move(access));
  }
  CxlProbe gather = probe_of(kRandomPayload, kLine, 1, CxlProbe::Addresses::random);
  gather.devices = kExpanders;
  list.add({"incast", "1 host reads from 8 expanders"}, {.kind = rate}, accesses,
           packets(cxl.pool, gather));
  struct Share {
    const char* id;
    const char* title;
    std::vector<std::int64_t> outstanding;
    std::size_t host;
  };
  const Share shares[] = {{"pool-equal", "2 hosts, 1 expander: each", {128, 128}, 0},
                          {"pool-more", "128:32 in flight: who has 128", {128, 32}, 0},
                          {"pool-less", "128:32 in flight: who has 32", {128, 32}, 1}};
  for (const Share& share : shares) {
    CxlProbe probe = probe_of(kRandomPayload, kLine, 1, CxlProbe::Addresses::random);
    probe.hosts = 2;
    probe.outstanding_of = share.outstanding;
    accesses.clear();
    for (std::size_t host = 0; host < 2; ++host) {
      LevelAccess access = ask_of(*cxl.link, Direction::read, kRandomPayload, kLine, 1 + host);
      limit(access, kLine, {share.outstanding[host], kLine},
            2 * cxl.pool.pool_switch->latency.value, {cxl.link.get()});
      add_part(access, *cxl.link, access.parts.front().cost, 0);
      accesses.push_back(std::move(access));
    }
    list.add({share.id, share.title}, {.kind = rate_of_one, .index = share.host}, accesses,
             [config = cxl.pool, probe, host = share.host] {
               const CxlProbeResult r = run_cxl_probe(config, probe);
               return answer_in(r.of_host[host] / 1_GBps, r, probe);
             });
  }
}

}  // namespace

std::vector<LevelWorkload> of_cxl(const CxlConfig& link, const DramConfig* module) {
  struct Owned {
    Cxl cxl;
    std::optional<Module> module;
  };
  const auto owned = std::make_shared<Owned>(Owned{Cxl(link), std::nullopt});
  Workloads of_link("cxl", owned);
  add_alone(of_link, owned->cxl);
  add_pools(of_link, owned->cxl);
  add_single_transfers(of_link, owned->cxl);
  std::vector<LevelWorkload> all = of_link.take();
  if (module == nullptr) return all;
  Workloads with_memory("cxl-dram", owned);
  add_behind_module(with_memory, owned->cxl, owned->module.emplace(*module));
  std::vector<LevelWorkload> more = with_memory.take();
  std::move(more.begin(), more.end(), std::back_inserter(all));
  return all;
}

}  // namespace tiersim::fidelity_map
