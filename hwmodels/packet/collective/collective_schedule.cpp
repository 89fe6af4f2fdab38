#include "hwmodels/packet/collective/collective_schedule.hpp"

#include "hwmodels/packet/collective/schedule_builder.hpp"

namespace tiersim {
namespace {

using Kind = CollectiveTransfer::Kind;
using Earlier = ScheduleBuilder::Earlier;

// The chain 0, 1, ..., n - 1 upwards with additions, and downwards with the sum, chunk by chunk.
void tree_chunks(ScheduleBuilder& b, ByteRange all, const CollectivePipeline& p) {
  const std::size_t n = b.schedule().ranks;
  const std::size_t steps = 2 * (n - 1);
  const auto chunks = chunks_of(all, p);
  std::vector<std::vector<Earlier>> by_step(steps);
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    Earlier last;
    for (std::size_t step = 0; step < steps; ++step) {
      const bool up = step < n - 1;
      const std::size_t src = up ? step : steps - step;
      const Earlier id = b.add({.kind = up ? Kind::add : Kind::store,
                                .src = src,
                                .dst = up ? src + 1 : src - 1,
                                .from = chunks[c].from,
                                .to = chunks[c].from,
                                .bytes = chunks[c].bytes},
                               last);
      const auto slots = static_cast<std::size_t>(p.slots.value);
      if (c >= slots) b.follow(by_step[step][c - slots], *id, true);
      by_step[step].push_back(id);
      last = id;
    }
  }
  b.schedule().hops = b.schedule().wires = static_cast<std::int64_t>(steps);
  b.schedule().streams = n > 2 ? 2 : 1;
}

// Each rank reads the sum of its piece from the switch, and the switch copies it to all ranks.
void switch_sums(ScheduleBuilder& b, CollectiveKind kind, ByteRange all,
                 const CollectivePipeline& p) {
  const std::size_t n = b.schedule().ranks;
  const auto pieces = cut(all, static_cast<std::int64_t>(n));
  const bool sums = kind != CollectiveKind::all_gather;
  const bool copies = kind != CollectiveKind::reduce_scatter;
  for (std::size_t rank = 0; rank < n; ++rank) {
    std::vector<Earlier> done;
    for (const ByteRange& chunk : chunks_of(pieces[rank], p)) {
      CollectiveTransfer transfer{.kind = Kind::sum,
                                  .src = rank,
                                  .dst = rank,
                                  .from = chunk.from,
                                  .to = chunk.from,
                                  .bytes = chunk.bytes,
                                  .of_input = true};
      Earlier first;
      Earlier last;
      if (sums) first = last = b.add(transfer, {});
      transfer.kind = Kind::to_all;
      transfer.of_input = false;
      if (copies) last = b.add(transfer, first);
      if (!first) first = last;
      const auto slots = static_cast<std::size_t>(p.slots.value);
      if (done.size() >= slots) b.follow(done[done.size() - slots], *first, true);
      done.push_back(last);
    }
  }
  b.schedule().hops = (sums ? 1 : 0) + (copies ? 1 : 0);
  b.schedule().wires = (sums ? 2 : 0) + (copies ? 1 : 0);
  // A port sends n pieces and one copy to the switch, and receives as much.
  b.schedule().streams = (sums ? static_cast<std::int64_t>(n) : 0) + (copies ? 1 : 0);
}

}  // namespace

bool serves(PacketAlgorithm algorithm, CollectiveKind kind) {
  const bool reduces_or_gathers =
      kind != CollectiveKind::all_to_all && kind != CollectiveKind::send;
  switch (algorithm) {
    case PacketAlgorithm::automatic:
    case PacketAlgorithm::ring:
    case PacketAlgorithm::two_shot:
      return true;
    case PacketAlgorithm::nvls:
      return reduces_or_gathers;
    case PacketAlgorithm::tree:
    case PacketAlgorithm::one_shot:
    case PacketAlgorithm::hierarchical:
      return kind == CollectiveKind::all_reduce;
  }
  return false;
}

CollectiveSchedule make_schedule(PacketAlgorithm algorithm, CollectiveKind kind, std::size_t ranks,
                                 Bytes size, const CollectivePipeline& pipeline,
                                 std::size_t nodes) {
  TS_EXPECTS(serves(algorithm, kind) && algorithm != PacketAlgorithm::automatic, name(algorithm),
             name(kind));
  TS_EXPECTS(nodes >= 1 && ranks >= 2 && ranks % nodes == 0, ranks, nodes);
  TS_EXPECTS(nodes == 1 || algorithm == PacketAlgorithm::hierarchical, nodes, name(algorithm));
  TS_EXPECTS(size.in_base() > 0, size);
  ScheduleBuilder b(ranks, nodes);
  const ByteRange all{Bytes{}, size};
  const bool one_to_one = kind == CollectiveKind::all_to_all || kind == CollectiveKind::send;
  if (one_to_one) {
    add_point_to_point(b, kind, all, algorithm != PacketAlgorithm::ring);
    return b.finish();
  }
  using enum PacketAlgorithm;
  if (algorithm == ring) add_ring(b, kind, all, pipeline);
  if (algorithm == tree) tree_chunks(b, all, pipeline);
  if (algorithm == one_shot) add_one_shot(b, all);
  if (algorithm == two_shot) add_two_shot(b, kind, all);
  if (algorithm == nvls) switch_sums(b, kind, all, pipeline);
  if (algorithm == hierarchical) add_hierarchical(b, all);
  return b.finish();
}

}  // namespace tiersim
