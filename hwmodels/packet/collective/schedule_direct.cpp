// Transfers from each rank directly to each other rank.
#include "hwmodels/packet/collective/schedule_builder.hpp"

namespace tiersim {
namespace {

using Kind = CollectiveTransfer::Kind;
using Earlier = ScheduleBuilder::Earlier;

}  // namespace

// NCCL sends to one peer after another.
void add_point_to_point(ScheduleBuilder& b, CollectiveKind kind, ByteRange all, bool at_once) {
  const std::size_t n = b.schedule().ranks;
  const bool send = kind == CollectiveKind::send;
  const auto pieces = cut(all, static_cast<std::int64_t>(n));
  const std::size_t peers = send ? 1 : n - 1;
  for (std::size_t src = 0; src < n; ++src) {
    Earlier last;
    for (std::size_t step = 1; step <= peers; ++step) {
      const std::size_t dst = (src + step) % n;
      const ByteRange range = send ? all : pieces[dst];
      const Bytes to = send ? Bytes{} : range.bytes * static_cast<std::int64_t>(src);
      const Earlier id = b.add({.src = src,
                                .dst = dst,
                                .from = range.from,
                                .to = to,
                                .bytes = range.bytes,
                                .of_input = true},
                               at_once ? Earlier{} : last);
      last = id;
    }
  }
  const auto count = static_cast<std::int64_t>(peers);
  b.schedule().hops = b.schedule().wires = at_once ? 1 : count;
  b.schedule().streams = at_once ? count : 1;
}

void add_one_shot(ScheduleBuilder& b, ByteRange all) {
  const std::size_t n = b.schedule().ranks;
  for (std::size_t src = 0; src < n; ++src)
    for (std::size_t step = 1; step < n; ++step)
      b.add({.kind = Kind::add,
             .src = src,
             .dst = (src + step) % n,
             .from = all.from,
             .to = all.from,
             .bytes = all.bytes,
             .of_input = true},
            {});
  b.schedule().hops = b.schedule().wires = 1;
  b.schedule().streams = static_cast<std::int64_t>(n) - 1;
}

// Each rank sends each other rank the piece that the other adds up; then each sends its sum to all.
void add_two_shot(ScheduleBuilder& b, CollectiveKind kind, ByteRange all) {
  const std::size_t n = b.schedule().ranks;
  const auto pieces = cut(all, static_cast<std::int64_t>(n));
  std::vector<std::vector<Earlier>> came(n);
  std::int64_t shots = 0;
  if (kind != CollectiveKind::all_gather) {
    ++shots;
    for (std::size_t src = 0; src < n; ++src)
      for (std::size_t step = 1; step < n; ++step) {
        const std::size_t dst = (src + step) % n;
        const ByteRange& piece = pieces[dst];
        if (piece.bytes == Bytes{}) continue;
        came[dst].push_back(b.add({.kind = Kind::add,
                                   .src = src,
                                   .dst = dst,
                                   .from = piece.from,
                                   .to = piece.from,
                                   .bytes = piece.bytes,
                                   .of_input = true},
                                  {}));
      }
  }
  if (kind != CollectiveKind::reduce_scatter) {
    ++shots;
    for (std::size_t src = 0; src < n; ++src)
      for (std::size_t step = 1; step < n; ++step) {
        const ByteRange& piece = pieces[src];
        if (piece.bytes == Bytes{}) continue;
        const Earlier id = b.add({.src = src,
                                  .dst = (src + step) % n,
                                  .from = piece.from,
                                  .to = piece.from,
                                  .bytes = piece.bytes},
                                 {});
        for (const Earlier& first : came[src]) b.follow(first, *id);
      }
  }
  b.schedule().hops = b.schedule().wires = shots;
  b.schedule().streams = static_cast<std::int64_t>(n) - 1;
}

}  // namespace tiersim
