#include "hwmodels/collective/direct.hpp"

#include "hwmodels/collective/fastest.hpp"
#include "hwmodels/collective/pieces.hpp"
#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

class Direct final : public Collective {
 public:
  explicit Direct(const DirectConfig& c)
      : algorithm_(c.algorithm),
        one_shot_(c.one_shot.value),
        two_shot_(c.two_shot.value),
        peer_(c.peer.value),
        rate_(c.rate.value) {}

  CollectiveCost cost(const CollectiveWork& work, const PortPath& port) const override {
    if (work.ranks == 1 || work.size == Bytes{}) return {};
    const std::int64_t peers = work.kind == CollectiveKind::send ? 1 : work.ranks - 1;
    if (work.kind != CollectiveKind::all_reduce)
      return exchanges(1, peers, piece_of(work), port, "direct");
    std::optional<CollectiveCost> best;
    if (algorithm_ != DirectAlgorithm::two_shot)
      keep_fastest(best, exchanges(1, peers, work.size, port, name(DirectAlgorithm::one_shot)),
                   port);
    if (algorithm_ != DirectAlgorithm::one_shot)
      keep_fastest(best, exchanges(2, peers, piece_of(work), port, name(DirectAlgorithm::two_shot)),
                   port);
    return *best;
  }

 private:
  // `count` exchanges: in each, a rank sends a run to every peer and receives one from each.
  CollectiveCost exchanges(std::int64_t count, std::int64_t peers, Bytes run, const PortPath& port,
                           std::string_view algorithm) const {
    const Bytes through = run * (count * peers);
    const Duration start = (count == 1 ? one_shot_ : two_shot_) + repeated(peer_, count * peers);
    return {.latency = std::max(start, repeated(port.latency, count)),
            .out = through,
            .in = through,
            .run = run,
            .min_duration = through / rate_,
            .algorithm = algorithm};
  }

  DirectAlgorithm algorithm_;
  Duration one_shot_;
  Duration two_shot_;
  Duration peer_;
  Bandwidth rate_;
};

}  // namespace

void describe(Fields& f, DirectConfig& c) {
  f.doc("Kernels that store to their peers, or load from them.");
  f.optional("algorithm", c.algorithm, kDirectAlgorithmNames, "Of an all-reduce.");
  f.required("one_shot", c.one_shot, "Start-up of one exchange, without its peers.",
             latency_limits());
  f.required("two_shot", c.two_shot, "Start-up of an all-reduce of two exchanges, likewise.",
             latency_limits());
  f.required("peer", c.peer, "Time that each peer adds to the start-up of an exchange.",
             latency_limits());
  f.required("rate", c.rate, "Most that the kernel sends a second, to all peers together.",
             bandwidth_limits());
}

std::unique_ptr<Collective> make_device(const DirectConfig& config) {
  return std::make_unique<Direct>(config);
}

void register_direct(Registry<DeviceKind<Collective>>& registry) {
  registry.add("direct", {"one-shot and two-shot kernels over peer memory (flow)",
                          &ConfiguredDevice<Collective, DirectConfig>::make});
}

}  // namespace tiersim
