// Collectives by fitted times: the time of the form alone on the port, the bytes of a ring or of
// the switch, and every mistake of a file.
#include "hwmodels/collective/timed_collective.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hwmodels/collective/fastest.hpp"
#include "hwmodels/collective/pieces.hpp"
#include "hwmodels/forms/collective_form.hpp"
#include "sim/config/describe.hpp"
#include "sim/step/system_config.hpp"

namespace tiersim::timed_collective_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using enum CollectiveKind;

constexpr std::array kKinds{all_reduce, reduce_scatter, all_gather, all_to_all};
constexpr PortPath kPort{.bandwidth = 400_GBps, .latency = 100ns};

// Start, hop and share of the port of three protocols, then sharpness and exponents.
const std::vector<double> kTruth{4e-6, 2e-7, 0.2, 8e-6, 5e-7, 0.5, 2e-5, 1e-6, 0.8, 3, 1, 1, 1};

TimedOperationConfig operation(double surface = 0) {
  TimedOperationConfig c;
  c.variant = "flags";
  c.kernel = "ring";
  c.calibration = "made/up-1";
  c.part = {.name = "made", .port = 400_GBps};
  const auto parameters = collective_form().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    c.parameters[std::string(parameters[i].name)] = kTruth[i];
  c.surface.assign(static_cast<std::size_t>(collective_form().surface_columns()), surface);
  c.least = {{"ranks", 2}, {"bytes", 512}, {"passes", 1}};
  c.most = {{"ranks", 8}, {"bytes", 1e9}, {"passes", 2}};
  return c;
}
TimedCollectiveConfig config(double surface = 0) {
  TimedCollectiveConfig c;
  for (const CollectiveKind kind : kKinds)
    c.operations.by_name.emplace(name(kind), operation(surface));
  return c;
}

CollectiveWork work(CollectiveKind kind, Bytes size, std::int64_t ranks) {
  return {.kind = kind, .fabric = Fabric::tensor, .size = size, .ranks = ranks};
}
double physics(double ranks, double bytes, double passes) {
  const CollectiveCase c{.ranks = ranks, .bytes = bytes, .passes = passes};
  return collective_form().physics(c.sizes(), {.port = 400e9}, kTruth, 0);
}
double seconds(const CollectiveCost& cost) {
  return to_seconds(alone_time(cost, kPort));
}

TEST(TimedCollective, TakesTheTimeOfItsFormAloneOnThePort) {
  const auto model = make_device(config());
  for (const CollectiveKind kind : kKinds)
    for (const std::int64_t ranks : {2, 3, 4, 8})
      for (std::int64_t size = 512; size < 1'000'000'000; size *= 8) {
        const CollectiveCost cost = model->cost(work(kind, Bytes::from_base(size), ranks), kPort);
        const double fitted = physics(static_cast<double>(ranks), static_cast<double>(size),
                                      kind == all_reduce ? 2 : 1);
        EXPECT_GE(seconds(cost), fitted * (1 - 1e-12));
        EXPECT_LE(seconds(cost), fitted * (1 + 1e-12) + 1e-12);  // rounded up to 1 ps
        EXPECT_EQ(cost.algorithm, "timed");
      }
}

TEST(TimedCollective, TakesItsSurfaceAndNotBeyondWhatWasTimed) {
  const auto model = make_device(config(0.5));
  const double inside = seconds(model->cost(work(all_gather, 1_MiB, 8), kPort));
  EXPECT_NEAR(inside / physics(8, 1048576, 1), std::exp(0.5), 1e-6);
  for (const auto& [size, ranks] : {std::pair{2'000'000'000_B, 8}, std::pair{1_MiB, 16}}) {
    const CollectiveCost cost = model->cost(work(all_gather, size, ranks), kPort);
    EXPECT_EQ(cost.algorithm, "beyond timings");
    EXPECT_NEAR(seconds(cost), physics(ranks, static_cast<double>(size.in_base()), 1), 1e-9);
  }
}

TEST(TimedCollective, TakesTheTimeOfTheLeastSizeForFewerBytes) {
  const auto model = make_device(config());
  EXPECT_EQ(alone_time(model->cost(work(all_reduce, 8_B, 4), kPort), kPort),
            alone_time(model->cost(work(all_reduce, 512_B, 4), kPort), kPort));
}

TEST(TimedCollective, MisfitIsAFactorAndCountsTwiceBeyondWhatWasTimed) {
  TimedCollectiveConfig slow = config();
  for (auto& [name, each] : slow.operations.by_name) each.misfit.value = 2;
  const auto model = make_device(config());
  const auto doubled = make_device(slow);
  for (const auto& [ranks, factor] : {std::pair{8, 2.}, std::pair{16, 4.}})
    EXPECT_NEAR(seconds(doubled->cost(work(all_reduce, 1_MiB, ranks), kPort)),
                factor * seconds(model->cost(work(all_reduce, 1_MiB, ranks), kPort)), 1e-11);
}

TEST(TimedCollective, SendsTheBytesOfARing) {
  const CollectiveCost all = make_device(config())->cost(work(all_reduce, 8000_B, 8), kPort);
  EXPECT_EQ(all.run, 1000_B);
  EXPECT_EQ(all.out, 14'000_B);
  EXPECT_EQ(all.in, 14'000_B);
  for (const CollectiveKind kind : {reduce_scatter, all_gather, all_to_all})
    EXPECT_EQ(make_device(config())->cost(work(kind, 8000_B, 8), kPort).out, 7000_B);
}

TEST(TimedCollective, LeavesSumsToTheSwitchWhereARingWouldTakeLonger) {
  // 1.75 GB at 0.8 * 400 GB/s take 5.5 ms, and a ring over a port of 250 GB/s 7 ms; 9 pieces of
  // 125 MB take 4.5 ms.
  constexpr PortPath kSlow{.bandwidth = 250_GBps, .latency = 100ns};
  const auto model = make_device(config());
  const CollectiveCost cost = model->cost(work(all_reduce, 1'000'000'000_B, 8), kSlow);
  EXPECT_EQ(cost.out, 1'125'000'000_B);
  EXPECT_NEAR(to_seconds(alone_time(cost, kSlow)), physics(8, 1e9, 2), 1e-12);
  // No port is faster than its bytes.
  constexpr PortPath kSlower{.bandwidth = 50_GBps, .latency = 100ns};
  EXPECT_GT(alone_time(model->cost(work(all_reduce, 1'000'000'000_B, 8), kSlower), kSlower),
            Bytes::from_base(1'125'000'000) / kSlower.bandwidth);
}

TEST(TimedCollective, ASendIsHalfOfAnExchangeBetweenTwo) {
  const auto model = make_device(config());
  const CollectiveCost sent = model->cost(work(send, 1_MiB, 8), kPort);
  const CollectiveCost exchanged = model->cost(work(all_to_all, 2_MiB, 2), kPort);
  EXPECT_EQ(sent.out, 1_MiB);
  EXPECT_EQ(alone_time(sent, kPort), alone_time(exchanged, kPort));
}

TEST(TimedCollective, OneRankAndNoBytesCostNothing) {
  const auto model = make_device(config());
  EXPECT_EQ(alone_time(model->cost(work(all_reduce, 1_MiB, 1), kPort), kPort), Duration{});
  EXPECT_EQ(alone_time(model->cost(work(all_reduce, 0_B, 8), kPort), kPort), Duration{});
}

std::string mistakes_in(const std::string& from, const std::string& to) {
  std::string text = "timed_collectives:\n";
  for (const CollectiveKind kind : kKinds) {
    text += fmt::format(
        "  {}: {{form: collective, variant: flags, kernel: ring, from: made/up-1, "
        "part: {{name: made, port: 400 GB/s}}, parameters: {{",
        name(kind));
    for (const auto& [parameter, value] : operation().parameters)
      text += fmt::format("{}: {}, ", parameter, value);
    text +=
        "}, least: {ranks: 2, bytes: 512, passes: 1}, most: {ranks: 8, bytes: 1024, passes: 2}}\n";
  }
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  Diagnostics diagnostics;
  const Document document = load_text(text, "c.yaml", {}, diagnostics);
  static_cast<void>(read<TimedCollectiveConfig>(document, "device", diagnostics));
  return diagnostics.text();
}

TEST(TimedCollective, NamesEveryMistakeOfAFile) {
  EXPECT_EQ(mistakes_in("ring", "ring"), "");
  const auto names = [](const std::string& from, const std::string& to, std::string_view mistake) {
    const std::string made = mistakes_in(from, to);
    EXPECT_NE(made.find(mistake), std::string::npos) << made;
  };
  names(
      "all_gather", "al_gather",
      "c.yaml:4:3: error: timed_collectives: unknown key 'al_gather' (did you mean 'all_gather'?)");
  names("  all_gather: {", "  # {", "timed_collectives: missing required key 'all_gather'");
  names("form: collective", "form: product", "form: is no form of collectives (collective)");
  names("variant: flags", "variant: flag", "variant: is no variant");
  names("sharpness: 3", "sharpness: 30", "parameters.sharpness: is not from 1 to 8");
  names("sharpness: 3", "sharp: 3", "lacks 'sharpness'");
  names("least: {ranks: 2", "least: {rank: 2", "lacks 'ranks'");
}

// A shipped collective with the port of its GPUs, headers included, takes its fitted time: the port
// is never what it waits for, alone.
TEST(TimedCollective, OfAShippedFileFitsThroughThePortOfItsGpu) {
  const auto device = [](const std::string& file, auto spec) {
    Diagnostics diagnostics;
    const std::filesystem::path root = std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs";
    const Document document =
        load_document(root / "devices" / (file + ".yaml"), {.config_root = root}, diagnostics);
    auto made = read<decltype(spec)>(document, "device", diagnostics);
    EXPECT_EQ(diagnostics.text(), "");
    return made.spec->build();
  };
  for (const auto& [gpu, link] : {std::pair{"h200", "nvlink4_h100"},
                                  {"h100", "nvlink4_h100"},
                                  {"a100", "nvlink3_a100"},
                                  {"b200", "nvlink5_b200"}})
    for (const char* engine : {"vllm", "trtllm"}) {
      const auto model =
          device(fmt::format("collective_{}_{}", engine, gpu), DeviceConfig<Collective>());
      const auto port = device(link, DeviceConfig<Link>());
      const PortPath path{.bandwidth = port->channels().front().capacity, .latency = {}};
      for (const CollectiveKind kind : kKinds)
        for (const std::int64_t ranks : {2, 4, 8})
          for (std::int64_t size = 4096; size <= 1 << 29; size *= 2) {
            const CollectiveCost cost =
                model->cost(work(kind, Bytes::from_base(size), ranks), path);
            for (const auto& charges : {port->cost(Direction::write, cost.out, cost.run).charges,
                                        port->incoming(cost.in, cost.run).charges})
              for (const Charge& charge : charges)
                EXPECT_LE(charge.busy / port->channels()[charge.channel].capacity,
                          cost.min_duration)
                    << engine << ' ' << gpu << ' ' << name(kind) << ' ' << ranks << ' ' << size;
          }
    }
}

}  // namespace
}  // namespace tiersim::timed_collective_test
