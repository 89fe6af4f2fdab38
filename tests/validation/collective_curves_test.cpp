// The shipped collectives on the shipped NVLink ports, against NCCL's own model and timings that
// others published. The bands of timings are 25 % for NCCL, each point, and 15 % in the mean for
// kernels over peer memory; each test says what the constants were fitted to.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "sim/step/system_config.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::collective_curves_test {
namespace {

using namespace literals;
using Settings = std::vector<std::string>;

template <class Interface>
std::unique_ptr<Interface> device(const std::string& name, const Settings& set = {}) {
  Diagnostics diagnostics;
  const Document document =
      load_document(testing::configs() / "devices" / (name + ".yaml"),
                    {.overrides = set, .config_root = testing::configs()}, diagnostics);
  const auto config = read<DeviceConfig<Interface>>(document, "device", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return config.spec->build();
}

// Collectives of GPUs without other traffic: one port each, and a switch between them.
class Group {
 public:
  Group(const std::string& collective, const std::string& port, const Settings& set = {})
      : collective_(device<Collective>(collective, set)), port_(device<Link>(port)) {
    for (const Link* link : {port_.get(), switch_.get()})
      path_.latency += link->cost(Direction::write, 1_B, 1_B).latency;
    path_.bandwidth = std::ranges::min(port_->channels(), {}, &Channel::capacity).capacity;
  }

  double us(Bytes size, std::int64_t ranks,
            CollectiveKind kind = CollectiveKind::all_reduce) const {
    const CollectiveCost c = collective_->cost({kind, Fabric::tensor, size, ranks}, path_);
    Duration longest = c.min_duration;
    for (const AccessCost& part :
         {port_->cost(Direction::write, c.out, c.run), port_->incoming(c.in, c.run)})
      for (const Charge& charge : part.charges)
        longest = std::max(longest, charge.busy / port_->channels()[charge.channel].capacity);
    return to_seconds(c.latency + longest) * 1e6;
  }

  /// GB/s as NCCL's tests count them: 2 (n - 1) / n of the size, over the time.
  double bus_bandwidth(Bytes size, std::int64_t ranks) const {
    const auto n = static_cast<double>(ranks);
    return 2 * (n - 1) / n * static_cast<double>(size.in_base()) / us(size, ranks) / 1e3;
  }

 private:
  std::unique_ptr<Collective> collective_;
  std::unique_ptr<Link> port_;
  std::unique_ptr<Link> switch_ = device<Link>("nvswitch");
  PortPath path_;
};

/// us at `first`, twice that, four times that, ...
using Curve = std::vector<double>;

struct Errors {
  double mean = 0;
  double largest = 0;
};

Errors errors_of(const Group& group, Bytes first, std::int64_t ranks, const Curve& curve) {
  Errors out;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const Bytes size = first * (std::int64_t{1} << i);
    const double error = std::abs(group.us(size, ranks) / curve[i] - 1);
    out.mean += error / static_cast<double>(curve.size());
    out.largest = std::max(out.largest, error);
  }
  return out;
}

// NCCL's tuning model for 8 GPUs, 1 KiB to 1 GiB: the time by which it chooses its algorithm, with
// rings of 240 (A100) and 370.8 GB/s (H100). Our constants of start-up and hops are its own; the
// port, the bytes and the switch's rate are not. Within 7 %: our ports carry 4.4 and 1.4 % more,
// and LL128's flags leave 1.9 % more than NCCL counts.
const Curve kA100Model{15.02,  15.04,  15.08,  15.16,   15.33,   15.65,   16.31,
                       17.62,  20.23,  25.46,  35.92,   56.85,   73.84,   107.09,
                       173.57, 300.67, 545.34, 1034.67, 2013.34, 3970.68, 7885.37};
const Curve kH100Model{15.01, 15.03,  15.05,  15.1,   15.2,    15.41,   15.81,
                       16.63, 18.25,  21.51,  28.01,  32.68,   40.36,   55.71,
                       86.42, 147.85, 270.69, 516.38, 1007.77, 1990.53, 3956.06};

TEST(CollectiveCurves, NcclIsWithinItsBandOfItsOwnModel) {
  const Group a100("collective_nccl_nvlink3", "nvlink3_a100");
  const Group h100("collective_nccl_nvlink4", "nvlink4_h100");
  EXPECT_LE(errors_of(a100, 1_KiB, 8, kA100Model).largest, 0.07);
  EXPECT_LE(errors_of(h100, 1_KiB, 8, kH100Model).largest, 0.07);
}

// The same model at both ends, where it corrects no tree; trees are never its choice in one node.
TEST(CollectiveCurves, EachAlgorithmOfNcclIsToo) {
  struct Ends {
    const char* algorithm;
    double a100_small, a100_large, h100_small, h100_large;
  };
  for (const Ends& e : {Ends{"ring_ll", 15.02, 21440.86, 15.01, 13341.58},
                        Ends{"ring_ll128", 40.61, 8550.78, 40.61, 5548.81},
                        Ends{"ring_simple", 56.01, 7885.37, 56.0, 5123.55},
                        Ends{"tree_ll", 15.24, 36973.7, 15.23, 23936.56},
                        Ends{"tree_ll128", 31.51, 12536.26, 31.51, 8125.19},
                        Ends{"tree_simple", 64.41, 9790.32, 64.41, 6359.5}}) {
    const Settings set{std::string("algorithm=") + e.algorithm};
    const Group a100("collective_nccl_nvlink3", "nvlink3_a100", set);
    const Group h100("collective_nccl_nvlink4", "nvlink4_h100", set);
    EXPECT_NEAR(a100.us(1_KiB, 8) / e.a100_small, 1, 0.07) << e.algorithm;
    EXPECT_NEAR(a100.us(1_GiB, 8) / e.a100_large, 1, 0.07) << e.algorithm;
    EXPECT_NEAR(h100.us(1_KiB, 8) / e.h100_small, 1, 0.07) << e.algorithm;
    EXPECT_NEAR(h100.us(1_GiB, 8) / e.h100_large, 1, 0.07) << e.algorithm;
  }
}

// Timed, not fitted: 2 KiB to 1 MiB in a CUDA graph (pull request 22734 of sgl-project/sglang, one
// node; that it is one of 8 H100 is assumed).
TEST(CollectiveCurves, NcclIsWithinItsBandOfTimings) {
  const Curve graph{16.84, 16.99, 17.23, 17.75, 19.63, 19.92, 20.13, 20.31, 20.86, 27.00};
  const Group h100("collective_nccl_nvlink4", "nvlink4_h100");
  EXPECT_LE(errors_of(h100, 2_KiB, 8, graph).largest, 0.25);
  // 6 H100, 0.5, 1, 2 and 4 MiB (pull request 24111 of vllm-project/vllm), printed to 1 us.
  EXPECT_LE(errors_of(h100, 512_KiB, 6, {23, 25, 43, 53}).largest, 0.25);
}

// Bus bandwidths of 2-4 GB on H100 (issue 1455 of NVIDIA/nccl): rings 365 to 370 GB/s on 2 to 8
// GPUs; NVLS 370, 420, 440, 460, 480 on 4 to 8, of which only that of 8 was fitted. 5 %: the port
// itself is known to 371-380 GB/s.
TEST(CollectiveCurves, LargeSizesReachTheTimedBusBandwidth) {
  const Group ring("collective_nccl_nvlink4", "nvlink4_h100", {"algorithm=ring_simple"});
  for (const std::int64_t ranks : {2, 3, 4, 5, 6, 7, 8})
    EXPECT_NEAR(ring.bus_bandwidth(4_GiB, ranks), 367.5, 0.05 * 367.5) << ranks;
  const Group nvls("collective_nccl_nvlink4", "nvlink4_h100", {"algorithm=nvls"});
  const std::array<double, 5> timed{370, 420, 440, 460, 480};
  for (std::size_t i = 0; i < timed.size(); ++i)
    EXPECT_NEAR(nvls.bus_bandwidth(4_GiB, 4 + static_cast<std::int64_t>(i)), timed[i],
                0.05 * timed[i]);
}

// 8 H800, whose port has 200 of 450 GB/s: 215 GB/s (issue 1374 of NVIDIA/nccl), not fitted.
TEST(CollectiveCurves, TheSwitchReducesAtTheSameShareOfASmallerPort) {
  const Group h800("collective_nccl_nvlink4", "nvlink4_h800", {"algorithm=nvls"});
  EXPECT_NEAR(h800.bus_bandwidth(4_GiB, 8), 215, 0.05 * 215);
}

// MSCCL++ in a CUDA graph, the same table as NCCL above. All ten sizes were fitted.
TEST(CollectiveCurves, MscclppIsWithinItsBandOfTimings) {
  const Curve graph{5.86, 5.98, 6.00, 6.37, 7.21, 8.20, 8.80, 10.56, 11.96, 14.01};
  const Group h100("collective_direct_nvlink4", "nvlink4_h100");
  EXPECT_LE(errors_of(h100, 2_KiB, 8, graph).mean, 0.15);
}

// One shot of another kernel on 6 H100 (pull request 24111 of vllm-project/vllm), not fitted: 0.5,
// 1, 2 and 4 MiB, printed to 1 us.
TEST(CollectiveCurves, OneShotOnSixGpusFollowsTheFitOnEight) {
  const Group h100("collective_direct_nvlink4", "nvlink4_h100", {"algorithm=one_shot"});
  EXPECT_LE(errors_of(h100, 512_KiB, 6, {13, 21, 38, 70}).mean, 0.15);
}

// A kernel that copies its input first, 2, 4 and 8 H100 (pull request 2904 of sgl-project/sglang).
// All of them were fitted.
TEST(CollectiveCurves, TheCopyingKernelIsWithinItsBandOfTimings) {
  const Group h100("collective_direct_copy_nvlink4", "nvlink4_h100");
  const std::array<std::int64_t, 6> sizes{512, 4096, 32768, 262144, 524288, 1048576};
  const std::array<std::pair<std::int64_t, std::array<double, 6>>, 3> timed{{
      {2, {3.7, 3.9, 4.5, 7.9, 12.5, 19.9}},
      {4, {4.8, 3.7, 4.8, 13.9, 20.2, 31.1}},
      {8, {5.9, 5.7, 7.8, 16.7, 22.1, 33.8}},
  }};
  double mean = 0;
  for (const auto& [ranks, us] : timed)
    for (std::size_t i = 0; i < sizes.size(); ++i)
      mean += std::abs(h100.us(Bytes::from_base(sizes[i]), ranks) / us[i] - 1) / 18;
  EXPECT_LE(mean, 0.15);
}

}  // namespace
}  // namespace tiersim::collective_curves_test
