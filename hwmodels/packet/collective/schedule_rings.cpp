// Rings within a node, and hierarchical rings over several nodes.
#include "hwmodels/packet/collective/schedule_builder.hpp"

namespace tiersim {
namespace {

using Kind = CollectiveTransfer::Kind;
using Earlier = ScheduleBuilder::Earlier;

// Ranks of a ring in order, and the transfers that each of them waits for before it sends a piece.
struct Ring {
  std::vector<std::size_t> ranks;
  bool between_nodes = false;
  std::vector<Earlier> own = {};  ///< by position: further predecessors of a rank's own data
};
using Waits = std::vector<std::vector<Earlier>>;  // by position in the ring and piece

// In step k, position i sends piece i - behind - k to the next position.
void go_round(ScheduleBuilder& b, const Ring& ring, const std::vector<ByteRange>& pieces, Kind kind,
              std::size_t behind, Waits& waits) {
  const std::size_t n = ring.ranks.size();
  for (std::size_t step = 0; step + 1 < n; ++step)
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t piece = (i + 2 * n - behind - step) % n;
      const std::size_t next = (i + 1) % n;
      const Earlier id = b.add({.kind = kind,
                                .src = ring.ranks[i],
                                .dst = ring.ranks[next],
                                .from = pieces[piece].from,
                                .to = pieces[piece].from,
                                .bytes = pieces[piece].bytes,
                                .between_nodes = ring.between_nodes},
                               waits[i][piece]);
      if (!ring.own.empty() && pieces[piece].bytes > Bytes{}) b.follow(ring.own[i], *id);
      waits[next][piece] = id;
    }
}

// The receiver adds each piece; position i ends with the sum of piece i.
void reduce_scatter_ring(ScheduleBuilder& b, const Ring& ring, const std::vector<ByteRange>& pieces,
                         Waits& waits) {
  go_round(b, ring, pieces, Kind::add, 1, waits);
}

// Position i starts with piece i; every position ends with all pieces.
void all_gather_ring(ScheduleBuilder& b, const Ring& ring, const std::vector<ByteRange>& pieces,
                     Waits& waits) {
  go_round(b, ring, pieces, Kind::store, 0, waits);
}

std::vector<std::size_t> ranks_from(std::size_t first, std::size_t count, std::size_t stride) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(first + i * stride);
  return out;
}

Waits no_waits(std::size_t n) {
  return Waits(n, std::vector<Earlier>(n));
}

}  // namespace

void add_ring(ScheduleBuilder& b, CollectiveKind kind, ByteRange all, const CollectivePipeline& p) {
  const std::size_t n = b.schedule().ranks;
  const auto pieces = cut(all, static_cast<std::int64_t>(n));
  const auto halves = static_cast<std::int64_t>(kind == CollectiveKind::all_reduce ? 2 : 1);
  b.schedule().hops = b.schedule().wires = halves * (static_cast<std::int64_t>(n) - 1);
  for (std::int64_t slice = 0; slice < p.slices.value; ++slice) {
    std::vector<ByteRange> part;
    for (const ByteRange& piece : pieces)
      part.push_back(cut(piece, p.slices.value)[static_cast<std::size_t>(slice)]);
    const Ring ranks{ranks_from(0, n, 1)};
    Waits waits = no_waits(n);
    if (kind != CollectiveKind::all_gather) reduce_scatter_ring(b, ranks, part, waits);
    if (kind != CollectiveKind::reduce_scatter) all_gather_ring(b, ranks, part, waits);
  }
}

// First, a ring within each node leaves each rank the node's sum of one piece. Then the ranks of
// all nodes with the same piece add it up in a ring over the network. Last, a ring within each node
// distributes it, one part after another.
void add_hierarchical(ScheduleBuilder& b, ByteRange all) {
  const std::size_t local = b.schedule().ranks_per_node;
  const std::size_t nodes = b.schedule().ranks / local;
  const auto pieces = cut(all, static_cast<std::int64_t>(local));
  std::vector<Waits> waits(nodes, no_waits(local));
  for (std::size_t node = 0; node < nodes; ++node)
    reduce_scatter_ring(b, {ranks_from(node * local, local, 1)}, pieces, waits[node]);
  std::vector<std::vector<ByteRange>> parts;  // by piece
  std::vector<Waits> across(local, no_waits(nodes));
  for (std::size_t i = 0; i < local; ++i) {
    parts.push_back(cut(pieces[i], static_cast<std::int64_t>(nodes)));
    Ring ring{ranks_from(i, nodes, local), true};
    for (std::size_t node = 0; node < nodes; ++node) ring.own.push_back(waits[node][i][i]);
    reduce_scatter_ring(b, ring, parts[i], across[i]);
    all_gather_ring(b, ring, parts[i], across[i]);
  }
  for (std::size_t node = 0; node < nodes; ++node)
    for (std::size_t part = 0; part < nodes; ++part) {
      std::vector<ByteRange> ranges;
      Waits ready = no_waits(local);
      Ring ring{ranks_from(node * local, local, 1)};
      for (std::size_t i = 0; i < local; ++i) {
        ranges.push_back(parts[i][part]);
        ready[i][i] = across[i][node][part];
        ring.own.push_back(waits[node][i][i]);
      }
      all_gather_ring(b, ring, ranges, ready);
    }
  b.schedule().hops = b.schedule().wires = 2 * (static_cast<std::int64_t>(local) - 1);
  b.schedule().network_hops = 2 * (static_cast<std::int64_t>(nodes) - 1);
}

}  // namespace tiersim
