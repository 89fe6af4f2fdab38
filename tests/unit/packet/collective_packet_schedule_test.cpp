// Schedules of collectives, with symbols in place of data. In any order of transfers that respects
// their dependencies, every rank must end with the correct data.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "hwmodels/packet/collective/collective_schedule.hpp"
#include "sim/base/rng.hpp"

namespace tiersim::collective_packet_schedule_test {
namespace {

using enum CollectiveKind;
using Kind = CollectiveTransfer::Kind;

// The number of times that a byte of a rank's input is in the sum at one place.
using Symbol = std::map<std::pair<std::size_t, std::size_t>, int>;
using Buffer = std::vector<Symbol>;

class Machine {
 public:
  Machine(const CollectiveSchedule& schedule, CollectiveKind kind, std::size_t size)
      : schedule_(schedule), missing_(schedule.transfers.size()), then_(missing_.size()) {
    const std::size_t piece = (size + schedule.ranks - 1) / schedule.ranks;
    for (std::size_t rank = 0; rank < schedule.ranks; ++rank) {
      Buffer in(size);
      for (std::size_t i = 0; i < size; ++i)
        if (kind != all_gather || i / piece == rank) in[i] = {{{rank, i}, 1}};
      input_.push_back(in);
      in.resize(size + schedule.ranks * piece);
      now_.push_back(in);
    }
    for (const auto& order : schedule.order) {
      ++missing_[order.then];
      then_[order.first].push_back(order.then);
    }
  }

  /// Every transfer reads its bytes at one instant and delivers them at a later one.
  void run(std::uint64_t seed) {
    Rng rng(seed, "order");
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < missing_.size(); ++i)
      if (missing_[i] == 0) ready.push_back(i);
    std::vector<std::pair<std::size_t, Buffer>> flying;
    while (!ready.empty() || !flying.empty()) {
      const std::size_t pick = rng.below(ready.size() + flying.size());
      if (pick < ready.size()) {
        flying.emplace_back(ready[pick], taken(schedule_.transfers[ready[pick]]));
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
        continue;
      }
      const auto place = flying.begin() + static_cast<std::ptrdiff_t>(pick - ready.size());
      give(schedule_.transfers[place->first], place->second);
      for (const std::size_t next : then_[place->first])
        if (--missing_[next] == 0) ready.push_back(next);
      ++done_;
      flying.erase(place);
    }
  }

  std::size_t done() const { return done_; }
  const Buffer& at(std::size_t rank) const { return now_[rank]; }

 private:
  static std::size_t index(Bytes b) { return static_cast<std::size_t>(b.in_base()); }
  Buffer taken(const CollectiveTransfer& t) const {
    Buffer out(index(t.bytes));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t from = index(t.from) + i;
      if (t.kind == Kind::sum)
        for (const Buffer& in : input_)
          for (const auto& [who, count] : in[from]) out[i][who] += count;
      else
        out[i] = (t.of_input ? input_ : now_)[t.src][from];
    }
    return out;
  }
  void give(const CollectiveTransfer& t, const Buffer& data) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::size_t to = index(t.to) + i;
      if (t.kind == Kind::to_all)
        for (Buffer& rank : now_) rank[to] = data[i];
      else if (t.kind == Kind::add)
        for (const auto& [who, count] : data[i]) now_[t.dst][to][who] += count;
      else
        now_[t.kind == Kind::sum ? t.src : t.dst][to] = data[i];
    }
  }

  const CollectiveSchedule& schedule_;
  std::vector<Buffer> input_;
  std::vector<Buffer> now_;
  std::vector<int> missing_;
  std::vector<std::vector<std::size_t>> then_;
  std::size_t done_ = 0;
};

Symbol sum_of(std::size_t ranks, std::size_t place) {
  Symbol out;
  for (std::size_t rank = 0; rank < ranks; ++rank) out[{rank, place}] = 1;
  return out;
}

void expect_done(const Machine& machine, CollectiveKind kind, std::size_t n, std::size_t size,
                 const std::string& which) {
  const std::size_t piece = (size + n - 1) / n;
  for (std::size_t rank = 0; rank < n; ++rank)
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t owner = i / piece;
      if (kind == all_reduce || (kind == reduce_scatter && owner == rank)) {
        ASSERT_EQ(machine.at(rank)[i], sum_of(n, i)) << which << ' ' << rank << ' ' << i;
      }
      if (kind == all_gather) {
        ASSERT_EQ(machine.at(rank)[i], (Symbol{{{owner, i}, 1}})) << which << ' ' << rank;
      }
      if (kind == send) {
        ASSERT_EQ(machine.at((rank + 1) % n)[i], (Symbol{{{rank, i}, 1}})) << which;
      }
      // Rank `rank` receives its own piece from each other rank, one after the other.
      if (kind == all_to_all && owner != rank) {
        const std::size_t from = std::min(size, owner * piece);
        const std::size_t own = std::min(size, (owner + 1) * piece) - from;
        const Symbol& got = machine.at(owner)[rank * own + (i - from)];
        ASSERT_EQ(got, (Symbol{{{rank, i}, 1}})) << which << ' ' << rank << ' ' << i;
      }
    }
}

CollectivePipeline short_chunks(std::int64_t slices) {
  CollectivePipeline p;
  p.slices.value = slices;
  p.parts.value = 5;
  p.least.value = Bytes::from_base(2);
  p.chunk.value = Bytes::from_base(7);
  p.slots.value = 2;
  return p;
}

class Schedules : public ::testing::TestWithParam<std::tuple<PacketAlgorithm, CollectiveKind>> {};

TEST_P(Schedules, LeaveEachRankWithEveryPartOnce) {
  const auto [algorithm, kind] = GetParam();
  if (!serves(algorithm, kind)) return;
  for (std::size_t n = 2; n <= 8; ++n)
    for (const std::size_t size : {1U, 3U, 16U, 37U}) {
      const std::string which = std::string(name(algorithm)) + ' ' + std::string(name(kind)) + ' ' +
                                std::to_string(n) + ' ' + std::to_string(size);
      for (const std::int64_t slices : {1, 3}) {
        const CollectiveSchedule schedule =
            make_schedule(algorithm, kind, n, Bytes::from_base(static_cast<std::int64_t>(size)),
                          short_chunks(slices));
        Machine machine(schedule, kind, size);
        machine.run(n * size);
        ASSERT_EQ(machine.done(), schedule.transfers.size()) << which;
        expect_done(machine, kind, n, size, which);
      }
    }
}

using enum PacketAlgorithm;
INSTANTIATE_TEST_SUITE_P(
    All, Schedules,
    ::testing::Combine(::testing::Values(ring, tree, one_shot, two_shot, nvls, hierarchical),
                       ::testing::Values(all_reduce, reduce_scatter, all_gather, all_to_all, send)),
    [](const auto& param) {
      return std::string(name(std::get<0>(param.param))) + "_" +
             std::string(name(std::get<1>(param.param)));
    });

TEST(HierarchicalSchedule, AddsUpOverNodes) {
  for (const auto& [nodes, ranks] : {std::pair{2U, 8U}, {3U, 6U}, {4U, 4U}, {2U, 2U}})
    for (const std::size_t size : {1U, 5U, 24U, 41U}) {
      const CollectiveSchedule schedule =
          make_schedule(hierarchical, all_reduce, ranks,
                        Bytes::from_base(static_cast<std::int64_t>(size)), short_chunks(1), nodes);
      Machine machine(schedule, all_reduce, size);
      machine.run(size);
      ASSERT_EQ(machine.done(), schedule.transfers.size());
      expect_done(machine, all_reduce, ranks, size, "hierarchical");
    }
}

// 2 nodes of 4 ranks: each gives its node 2 * 3/4 of the size, and of its quarter 2 * 1/2 to the
// network.
TEST(HierarchicalSchedule, SendsAQuarterOfTheSizeOverTheNetwork) {
  const CollectiveSchedule schedule =
      make_schedule(hierarchical, all_reduce, 8, Bytes::from_base(800), {}, 2);
  std::map<bool, Bytes> sent;
  for (const CollectiveTransfer& t : schedule.transfers)
    if (t.src == 0) sent[t.between_nodes] += t.bytes;
  EXPECT_EQ(sent[false], Bytes::from_base(1200));
  EXPECT_EQ(sent[true], Bytes::from_base(200));
}

TEST(Schedule, AChunkWaitsForAPlaceInTheBuffer) {
  const CollectiveSchedule schedule =
      make_schedule(tree, all_reduce, 2, Bytes::from_base(35), short_chunks(1));
  const auto releases = std::count_if(schedule.order.begin(), schedule.order.end(),
                                      [](const auto& order) { return order.release; });
  // Five chunks of 7 B go up and down; all but the first two of each way wait for the second last.
  EXPECT_EQ(schedule.transfers.size(), 10U);
  EXPECT_EQ(releases, 2 * 3);
}

}  // namespace
}  // namespace tiersim::collective_packet_schedule_test
