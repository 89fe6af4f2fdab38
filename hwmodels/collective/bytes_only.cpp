#include "hwmodels/collective/bytes_only.hpp"

#include "hwmodels/collective/pieces.hpp"

namespace tiersim {
namespace {

class BytesOnly final : public Collective {
 public:
  CollectiveCost cost(const CollectiveWork& work, const PortPath& port) const override {
    if (work.ranks == 1 || work.size == Bytes{}) return {};
    const Bytes piece = piece_of(work);
    const Bytes through = piece * pieces_sent(work);
    const bool send = work.kind == CollectiveKind::send;
    return {.latency = send ? port.latency : Duration{},
            .out = through,
            .in = through,
            .run = piece,
            .min_duration = {},
            .algorithm = "bytes"};
  }
};

}  // namespace

void describe(Fields& f, BytesOnlyConfig&) {
  f.doc("Collectives by their bytes alone.");
}

std::unique_ptr<Collective> make_device(const BytesOnlyConfig&) {
  return std::make_unique<BytesOnly>();
}

void register_bytes_only(Registry<DeviceKind<Collective>>& registry) {
  registry.add("bytes_only", {"the least bytes, no start-up (analytic)",
                              &ConfiguredDevice<Collective, BytesOnlyConfig>::make});
}

}  // namespace tiersim
