#include "hwmodels/collective/nccl.hpp"

#include <algorithm>

#include "hwmodels/collective/fastest.hpp"
#include "hwmodels/collective/pieces.hpp"
#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

using enum NcclAlgorithm;

bool is_ring(NcclAlgorithm a) {
  return a == ring_ll || a == ring_ll128 || a == ring_simple;
}

bool point_to_point(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send;
}

bool serves(NcclAlgorithm a, CollectiveKind kind) {
  if (point_to_point(kind)) return a == ring_ll || a == ring_simple;
  return is_ring(a) || kind == CollectiveKind::all_reduce;
}

// Hops and bytes of one collective by one algorithm.
struct Route {
  std::int64_t hops = 0;   // that follow each other
  std::int64_t count = 0;  // number of runs, each way
  Bytes run;               // payload of a run
};

Route route_of(NcclAlgorithm a, const CollectiveWork& work) {
  const std::int64_t peers = work.ranks - 1;
  if (work.kind == CollectiveKind::send) return {1, 1, work.size};
  if (is_ring(a)) return {pieces_sent(work), pieces_sent(work), piece_of(work)};
  // Every rank sends all pieces to the switch and receives the sum of one, then sends that sum and
  // receives all of them.
  if (a == nvls) return {2, work.ranks + 1, piece_of(work)};
  return {2 * peers, std::min<std::int64_t>(peers, 2), work.size};
}

class Nccl final : public Collective {
 public:
  explicit Nccl(const NcclConfig& c) : algorithm_(c.algorithm), of_(c.of) {}

  CollectiveCost cost(const CollectiveWork& work, const PortPath& port) const override {
    if (work.ranks == 1 || work.size == Bytes{}) return {};
    const bool fixed = algorithm_ != automatic && serves(algorithm_, work.kind);
    std::optional<CollectiveCost> best;
    for (std::size_t i = 1; i < of_.size(); ++i) {
      const auto algorithm = static_cast<NcclAlgorithm>(i);
      if (!of_[i] || !serves(algorithm, work.kind) || (fixed && algorithm != algorithm_)) continue;
      keep_fastest(best, cost_of(algorithm, *of_[i], work, port), port);
    }
    TS_ENSURES(best.has_value(), name(algorithm_));  // ring_simple serves every collective
    return *best;
  }

 private:
  static CollectiveCost cost_of(NcclAlgorithm algorithm, const NcclConstants& c,
                                const CollectiveWork& work, const PortPath& port) {
    const Route route = route_of(algorithm, work);
    const Bytes run = scale_up(route.run, 1 / c.payload.value);
    const Bytes through = run * route.count;
    Duration least{};
    if (c.rate) least = route.run * route.count / c.rate->value;
    if (c.busy) least = std::max(least, through / scale_down(port.bandwidth, c.busy->value));
    return {.latency = std::max(c.start.value + repeated(c.hop.value, route.hops),
                                repeated(port.latency, route.hops)),
            .out = through,
            .in = through,
            .run = run,
            .min_duration = least,
            .algorithm = name(algorithm)};
  }

  NcclAlgorithm algorithm_;
  std::array<std::optional<NcclConstants>, kNcclAlgorithmNames.size()> of_;
};

}  // namespace

void describe(Fields& f, NcclConstants& c) {
  f.doc("Constants of one algorithm with its protocol.");
  f.required("start", c.start, "Start-up, whatever the ranks.", latency_limits());
  f.required("hop", c.hop, "Of the first byte, from one rank to the next.", latency_limits());
  f.required("payload", c.payload, "Share of payload in what is sent.", share_limits());
  f.optional("busy", c.busy,
             "Share of the port that its bytes reach, without headers; all of it where absent.",
             share_limits());
  f.optional("rate", c.rate, "Most payload a second, each direction; no limit where absent.",
             bandwidth_limits());
}

void describe(Fields& f, NcclConfig& c) {
  f.doc("NCCL: its algorithms and protocols, each where the system has it.");
  f.optional("algorithm", c.algorithm, kNcclAlgorithmNames, "Of collectives that it can do.");
  for (std::size_t i = 1; i < c.of.size(); ++i)
    f.optional(kNcclAlgorithmNames[i], c.of[i], "Not taken where absent.");
  f.optional("packet_level", c.packet_level, "Parameters of the packet level alone.");
  const auto has = [&](NcclAlgorithm a) { return c.of[static_cast<std::size_t>(a)].has_value(); };
  f.check(has(ring_simple), "", "has no ring_simple", "every collective can take it");
  f.check(c.algorithm == automatic || has(c.algorithm), "algorithm",
          "has no constants under this name", "add them, or take another");
}

std::unique_ptr<Collective> make_device(const NcclConfig& config) {
  return std::make_unique<Nccl>(config);
}

void register_nccl(Registry<DeviceKind<Collective>>& registry) {
  registry.add("nccl", {"NCCL's rings, trees and NVLS by protocol (flow)",
                        &ConfiguredDevice<Collective, NcclConfig>::make});
}

}  // namespace tiersim
