#include "hwmodels/packet/collective/collective_packet_config.hpp"

#include "hwmodels/limits.hpp"

namespace tiersim {

void describe(Fields& f, CollectivePipeline& c) {
  f.doc("How a protocol cuts what it sends.");
  const Limits counts = in_range(std::int64_t{1}, std::int64_t{4096});
  f.optional("slices", c.slices, "Of a ring's piece; each goes on as soon as it is there.", counts);
  f.optional("parts", c.parts, "Chunks of what a chain or NVLS pipelines.", counts);
  f.optional("least", c.least, "Of a chunk, but for the last one.", packet_limits());
  f.optional("chunk", c.chunk, "At most.", packet_limits());
  f.optional("slots", c.slots, "Chunks that may be sent before the first is worked off.", counts);
}

const CollectivePipeline& CollectivePacketConfig::of(CollectiveProtocol protocol) const {
  if (protocol == CollectiveProtocol::ll) return ll;
  return protocol == CollectiveProtocol::ll128 ? ll128 : simple;
}

void describe(Fields& f, CollectivePacketConfig& c) {
  f.doc("Parameters of a collective library that only the packet level uses.");
  f.optional("ll", c.ll, "With a flag beside each 4 B.");
  f.optional("ll128", c.ll128, "With 8 B of flags in each 128 B.");
  f.optional("simple", c.simple, "Without flags: a chunk is announced after it.");
}

}  // namespace tiersim
