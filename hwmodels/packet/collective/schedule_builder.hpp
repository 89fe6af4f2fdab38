#pragma once
// Internals of make_schedule(): ranges of bytes, and transfers with their predecessors.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "hwmodels/packet/collective/collective_schedule.hpp"

namespace tiersim {

struct ByteRange {
  Bytes from{};
  Bytes bytes{};
};

/// `range` cut into parts of ceil(bytes / count); the last ones may be shorter or empty (0 B).
inline std::vector<ByteRange> cut(ByteRange range, std::int64_t count) {
  const std::int64_t all = range.bytes.in_base();
  const std::int64_t part = (all + count - 1) / count;
  std::vector<ByteRange> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = std::min(all, i * part);
    out.push_back(
        {range.from + Bytes::from_base(from), Bytes::from_base(std::min(all, from + part) - from)});
  }
  return out;
}

/// Chunks of a pipeline: `parts` of them, within the bounds of their size.
inline std::vector<ByteRange> chunks_of(ByteRange range, const CollectivePipeline& p) {
  if (range.bytes == Bytes{}) return {};
  const std::int64_t all = range.bytes.in_base();
  const std::int64_t part = (all + p.parts.value - 1) / p.parts.value;
  const std::int64_t most = std::max(p.chunk.value, p.least.value).in_base();
  const std::int64_t chunk = std::clamp(part, p.least.value.in_base(), most);
  std::vector<ByteRange> out;
  for (std::int64_t from = 0; from < all; from += chunk)
    out.push_back(
        {range.from + Bytes::from_base(from), Bytes::from_base(std::min(chunk, all - from))});
  return out;
}

class ScheduleBuilder {
 public:
  using Kind = CollectiveTransfer::Kind;
  using Earlier = std::optional<std::uint32_t>;  // none: there was no transfer, or it had 0 B

  ScheduleBuilder(std::size_t ranks, std::size_t nodes) {
    out_.ranks = ranks;
    out_.ranks_per_node = ranks / nodes;
  }

  Earlier add(CollectiveTransfer transfer, Earlier after) {
    if (transfer.bytes == Bytes{}) return after;
    const auto key = std::tuple{transfer.src, transfer.dst, transfer.kind, transfer.between_nodes};
    transfer.stream = streams_.try_emplace(key, streams_.size()).first->second;
    out_.transfers.push_back(transfer);
    const auto id = static_cast<std::uint32_t>(out_.transfers.size() - 1);
    follow(after, id);
    return id;
  }
  void follow(Earlier first, std::uint32_t then, bool release = false) {
    if (first) out_.order.push_back({*first, then, release});
  }
  CollectiveSchedule& schedule() { return out_; }
  CollectiveSchedule finish() {
    out_.stream_count = streams_.size();
    return std::move(out_);
  }

 private:
  CollectiveSchedule out_;
  std::map<std::tuple<std::size_t, std::size_t, Kind, bool>, std::size_t> streams_;
};

// schedule_rings.cpp
void add_ring(ScheduleBuilder& b, CollectiveKind kind, ByteRange all, const CollectivePipeline& p);
void add_hierarchical(ScheduleBuilder& b, ByteRange all);

// schedule_direct.cpp
/// `at_once`: to all peers together, as kernels over peer memory send; else to one after another.
void add_point_to_point(ScheduleBuilder& b, CollectiveKind kind, ByteRange all, bool at_once);
void add_one_shot(ScheduleBuilder& b, ByteRange all);
void add_two_shot(ScheduleBuilder& b, CollectiveKind kind, ByteRange all);

}  // namespace tiersim
