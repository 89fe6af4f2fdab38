#include <set>

#include <gtest/gtest.h>

#include "hwmodels/collective/bytes_only.hpp"
#include "hwmodels/collective/direct.hpp"
#include "hwmodels/collective/fastest.hpp"
#include "hwmodels/collective/nccl.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::collective_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using enum CollectiveKind;

constexpr std::array kKinds{all_reduce, reduce_scatter, all_gather, all_to_all, send};
constexpr PortPath kPort{.bandwidth = 100_GBps, .latency = 100ns};

CollectiveWork work(CollectiveKind kind, Bytes size, std::int64_t ranks) {
  return {.kind = kind, .fabric = Fabric::tensor, .size = size, .ranks = ranks};
}

// 1 us and 2 us, 100 ns a peer, 10 GB/s: 1 us for 10 KB.
DirectConfig round_direct(DirectAlgorithm algorithm = DirectAlgorithm::automatic) {
  DirectConfig c;
  c.algorithm = algorithm;
  c.one_shot.value = 1us;
  c.two_shot.value = 2us;
  c.peer.value = 100ns;
  c.rate.value = 10_GBps;
  return c;
}

NcclConstants constants(Duration base, Duration hop, double payload) {
  NcclConstants c;
  c.start.value = base;
  c.hop.value = hop;
  c.payload.value = payload;
  return c;
}

// LL sends twice its payload, at most 25 GB/s of it; the others fill a port of 100 GB/s.
NcclConfig round_nccl(NcclAlgorithm algorithm = NcclAlgorithm::automatic) {
  NcclConfig c;
  c.algorithm = algorithm;
  const auto of = [&](NcclAlgorithm a) -> auto& {
    return c.of[static_cast<std::size_t>(a)];
  };
  of(NcclAlgorithm::ring_ll) = constants(5us, 200ns, 0.5);
  of(NcclAlgorithm::ring_ll)->rate = Sourced<Bandwidth>{25_GBps};
  of(NcclAlgorithm::ring_simple) = constants(10us, 1us, 1);
  of(NcclAlgorithm::tree_simple) = constants(10us, 2us, 1);
  of(NcclAlgorithm::tree_simple)->busy = Sourced<double>{0.5};
  of(NcclAlgorithm::nvls) = constants(20us, 0us, 1);
  return c;
}

struct Named {
  std::string name;
  std::unique_ptr<Collective> model;
};

std::vector<Named> all_models() {
  std::vector<Named> out;
  out.push_back({"bytes_only", make_device(BytesOnlyConfig{})});
  for (std::size_t i = 0; i < kDirectAlgorithmNames.size(); ++i)
    out.push_back({std::string(kDirectAlgorithmNames[i]),
                   make_device(round_direct(static_cast<DirectAlgorithm>(i)))});
  for (const auto a : {NcclAlgorithm::automatic, NcclAlgorithm::ring_ll, NcclAlgorithm::ring_simple,
                       NcclAlgorithm::tree_simple, NcclAlgorithm::nvls})
    out.push_back({"nccl " + std::string(name(a)), make_device(round_nccl(a))});
  return out;
}

TEST(Collective, OneRankAndNoBytesCostNothing) {
  for (const Named& m : all_models())
    for (const CollectiveKind kind : kKinds)
      for (const auto& [size, ranks] : {std::pair{1_MiB, 1}, std::pair{0_B, 8}}) {
        const CollectiveCost c = m.model->cost(work(kind, size, ranks), kPort);
        EXPECT_EQ(alone_time(c, kPort), 0ns) << m.name << ' ' << name(kind);
        EXPECT_EQ(c.out, 0_B) << m.name << ' ' << name(kind);
      }
}

// A rank receives bytes that another one sent, and at least the bytes that it lacks; links take
// whole runs of them.
TEST(Collective, BytesGoOutAsTheyComeInAndAreWholeRuns) {
  for (const Named& m : all_models())
    for (const CollectiveKind kind : kKinds)
      for (const std::int64_t ranks : {2, 3, 8})
        for (const Bytes size : {1_B, 1000_B, 1_MiB}) {
          const CollectiveCost c = m.model->cost(work(kind, size, ranks), kPort);
          EXPECT_EQ(c.out, c.in) << m.name << ' ' << name(kind);
          ASSERT_GT(c.run, 0_B) << m.name << ' ' << name(kind);
          EXPECT_EQ(c.out.in_base() % c.run.in_base(), 0) << m.name << ' ' << name(kind);
          const double missing = kind == send ? 1 : 1 - 1 / static_cast<double>(ranks);
          EXPECT_GE(c.in / size, missing) << m.name << ' ' << name(kind);
        }
}

TEST(Collective, MoreBytesNeverTakeLess) {
  for (const Named& m : all_models())
    for (const CollectiveKind kind : kKinds)
      for (const std::int64_t ranks : {2, 5, 8}) {
        Duration last{};
        for (std::int64_t size = 1; size < (std::int64_t{1} << 40); size += size / 7 + 1) {
          const Duration now =
              alone_time(m.model->cost(work(kind, Bytes::from_base(size), ranks), kPort), kPort);
          ASSERT_GE(now, last) << m.name << ' ' << name(kind) << ' ' << size;
          last = now;
        }
      }
}

// But for the reduction by the switch, whose bytes fall from 3/2 to 1 of the size.
TEST(Collective, MoreRanksNeverTakeLess) {
  NcclConfig rings_and_trees = round_nccl();
  rings_and_trees.of.back().reset();
  std::vector<Named> models = all_models();
  std::erase_if(models, [](const Named& m) { return m.name.starts_with("nccl "); });
  models.push_back({"nccl", make_device(rings_and_trees)});
  // A multiple of every number of ranks: pieces that are rounded up do not count.
  for (const Named& m : models)
    for (const CollectiveKind kind : kKinds)
      for (const Bytes size : {840_B, 840'000_B, 840'000'000_B}) {
        Duration last{};
        for (std::int64_t ranks = 1; ranks <= 8; ++ranks) {
          const Duration now = alone_time(m.model->cost(work(kind, size, ranks), kPort), kPort);
          EXPECT_GE(now, last) << m.name << ' ' << name(kind) << ' ' << ranks;
          last = now;
        }
      }
}

// 8 B more are 56 B more for one shot, 5.6 ns, and less for all others.
TEST(Collective, NothingJumpsWhereTheAlgorithmChanges) {
  for (const auto& model : {make_device(round_direct()), make_device(round_nccl())}) {
    std::set<std::string_view> seen;
    Duration last = alone_time(model->cost(work(all_reduce, 8_B, 8), kPort), kPort);
    for (std::int64_t size = 16; size < 400'000; size += 8) {
      const CollectiveCost c = model->cost(work(all_reduce, Bytes::from_base(size), 8), kPort);
      const Duration now = alone_time(c, kPort);
      seen.insert(c.algorithm);
      ASSERT_LE(now - last, Duration(5600)) << c.algorithm << ' ' << size;
      last = now;
    }
    EXPECT_EQ(seen.size(), 2U);
  }
}

TEST(Collective, TheStartUpIsAtLeastTheWayOfEachHop) {
  const PortPath far{.bandwidth = 100_GBps, .latency = 1ms};
  for (const Named& m : all_models())
    EXPECT_GE(m.model->cost(work(send, 1_B, 2), far).latency, 1ms) << m.name;
  EXPECT_EQ(make_device(round_direct(DirectAlgorithm::two_shot))
                ->cost(work(all_reduce, 1_B, 8), far)
                .latency,
            2ms);
  EXPECT_EQ(
      make_device(round_nccl(NcclAlgorithm::ring_ll))->cost(work(all_reduce, 1_B, 8), far).latency,
      14ms);
}

TEST(BytesOnly, IsTheLeastThatAPortCarries) {
  const auto model = make_device(BytesOnlyConfig{});
  EXPECT_EQ(model->cost(work(all_reduce, 800_B, 8), kPort).out, 1400_B);
  EXPECT_EQ(model->cost(work(all_gather, 800_B, 8), kPort).out, 700_B);
  EXPECT_EQ(model->cost(work(send, 800_B, 8), kPort).out, 800_B);
  EXPECT_EQ(model->cost(work(send, 800_B, 8), kPort).latency, 100ns);
  EXPECT_EQ(model->cost(work(all_reduce, 800_B, 8), kPort).latency, 0ns);
}

TEST(Direct, OneShotSendsEverythingToEveryPeer) {
  const auto model = make_device(round_direct(DirectAlgorithm::one_shot));
  const CollectiveCost c = model->cost(work(all_reduce, 10'000_B, 5), kPort);
  EXPECT_EQ(c.latency, 1us + 4 * 100ns);
  EXPECT_EQ(c.out, 40'000_B);
  EXPECT_EQ(c.run, 10'000_B);
  EXPECT_EQ(c.min_duration, 4us);
  EXPECT_EQ(c.algorithm, "one_shot");
}

TEST(Direct, TwoShotsSendPiecesTwice) {
  const auto model = make_device(round_direct(DirectAlgorithm::two_shot));
  const CollectiveCost c = model->cost(work(all_reduce, 10'000_B, 5), kPort);
  EXPECT_EQ(c.latency, 2us + 8 * 100ns);
  EXPECT_EQ(c.out, 8 * 2000_B);
  EXPECT_EQ(c.run, 2000_B);
  EXPECT_EQ(c.min_duration, 1600ns);
  EXPECT_EQ(c.algorithm, "two_shot");
}

// 5 ranks: 1.4 us + 4 S / B and 2.8 us + 1.6 S / B meet where 2.4 S / B is 1.4 us, S = 5833 B.
TEST(Direct, AutoChangesWhereBothTakeTheSame) {
  const auto model = make_device(round_direct());
  EXPECT_EQ(model->cost(work(all_reduce, 5800_B, 5), kPort).algorithm, "one_shot");
  EXPECT_EQ(model->cost(work(all_reduce, 5870_B, 5), kPort).algorithm, "two_shot");
}

TEST(Direct, EveryOtherCollectiveIsOneExchange) {
  const auto model = make_device(round_direct(DirectAlgorithm::two_shot));
  for (const CollectiveKind kind : {reduce_scatter, all_gather, all_to_all}) {
    const CollectiveCost c = model->cost(work(kind, 10'000_B, 5), kPort);
    EXPECT_EQ(c.latency, 1400ns) << name(kind);
    EXPECT_EQ(c.out, 8000_B) << name(kind);
  }
  const CollectiveCost c = model->cost(work(send, 10'000_B, 5), kPort);
  EXPECT_EQ(c.latency, 1100ns);
  EXPECT_EQ(c.out, 10'000_B);
}

TEST(Direct, ASlowPortIsSlowerThanTheKernel) {
  const PortPath slow{.bandwidth = 1_GBps, .latency = 0ns};
  const auto model = make_device(round_direct(DirectAlgorithm::one_shot));
  EXPECT_EQ(alone_time(model->cost(work(all_reduce, 10'000_B, 5), slow), slow), 1400ns + 40us);
}

TEST(Nccl, ARingTakesTwiceAroundForAnAllReduceAndOnceOtherwise) {
  const auto model = make_device(round_nccl(NcclAlgorithm::ring_simple));
  const CollectiveCost all = model->cost(work(all_reduce, 8000_B, 8), kPort);
  EXPECT_EQ(all.latency, 10us + 14 * 1us);
  EXPECT_EQ(all.out, 14'000_B);
  EXPECT_EQ(all.run, 1000_B);
  EXPECT_EQ(all.min_duration, 0ns);
  for (const CollectiveKind kind : {reduce_scatter, all_gather, all_to_all}) {
    const CollectiveCost half = model->cost(work(kind, 8000_B, 8), kPort);
    EXPECT_EQ(half.latency, 10us + 7 * 1us) << name(kind);
    EXPECT_EQ(half.out, 7000_B) << name(kind);
  }
  const CollectiveCost one = model->cost(work(send, 8000_B, 8), kPort);
  EXPECT_EQ(one.latency, 11us);
  EXPECT_EQ(one.out, 8000_B);
}

TEST(Nccl, FlagsGoThroughThePortAndTheRateIsOfPayload) {
  const auto model = make_device(round_nccl(NcclAlgorithm::ring_ll));
  const CollectiveCost c = model->cost(work(all_reduce, 8000_B, 8), kPort);
  EXPECT_EQ(c.latency, 5us + 14 * 200ns);
  EXPECT_EQ(c.out, 28'000_B);
  EXPECT_EQ(c.run, 2000_B);
  EXPECT_EQ(c.min_duration, 560ns);  // 14 KB at 25 GB/s
}

TEST(Nccl, ATreeCarriesEverythingUpAndDown) {
  const auto model = make_device(round_nccl(NcclAlgorithm::tree_simple));
  const CollectiveCost c = model->cost(work(all_reduce, 8000_B, 8), kPort);
  EXPECT_EQ(c.latency, 10us + 14 * 2us);
  EXPECT_EQ(c.out, 16'000_B);
  EXPECT_EQ(c.min_duration, 320ns);  // 16 KB at half of 100 GB/s
  EXPECT_EQ(model->cost(work(all_reduce, 8000_B, 2), kPort).out, 8000_B);
}

TEST(Nccl, TheSwitchTakesEachPieceOnceAndGivesASum) {
  const auto model = make_device(round_nccl(NcclAlgorithm::nvls));
  const CollectiveCost c = model->cost(work(all_reduce, 8000_B, 8), kPort);
  EXPECT_EQ(c.latency, 20us);
  EXPECT_EQ(c.out, 9000_B);
}

TEST(Nccl, WhatDoesNotServeACollectiveLeavesItToTheRings) {
  for (const auto a : {NcclAlgorithm::nvls, NcclAlgorithm::tree_simple}) {
    const auto model = make_device(round_nccl(a));
    EXPECT_EQ(model->cost(work(all_gather, 800_B, 8), kPort).algorithm, "ring_ll");
    EXPECT_EQ(model->cost(work(all_reduce, 800_B, 8), kPort).algorithm, name(a));
  }
}

std::string mistakes_in(const std::string& text) {
  Diagnostics diagnostics;
  const Document document =
      load_text("schema: tiersim.nccl/v1\n" + text, "n.yaml", {}, diagnostics);
  static_cast<void>(read<NcclConfig>(document, "nccl", diagnostics));
  return diagnostics.text();
}

TEST(Nccl, AMistakeIsToldWhereItStands) {
  const std::string simple = "ring_simple: {start: 1 us, hop: 1 us, payload: 1}\n";
  EXPECT_EQ(mistakes_in(simple), "");
  EXPECT_EQ(mistakes_in("ring_ll: {start: 1 us, hop: 1 us, payload: 0.5}\n"),
            "n.yaml:1:1: error: has no ring_simple (every collective can take it)\n");
  EXPECT_EQ(mistakes_in(simple + "algorithm: nvls\n"),
            "n.yaml:3:1: error: algorithm: has no constants under this name (add them, or take "
            "another)\n");
  EXPECT_EQ(mistakes_in(simple + "algorithm: ring_l\n"),
            "n.yaml:3:12: error: algorithm: unknown value 'ring_l' (did you mean 'ring_ll'? one "
            "of: auto, "
            "ring_ll, ring_ll128, ring_simple, tree_ll, tree_ll128, tree_simple, nvls)\n");
}

}  // namespace
}  // namespace tiersim::collective_test
