#include "sim/step/accounting.hpp"

#include <gtest/gtest.h>

#include "tests/unit/step/small_system.hpp"

namespace tiersim::accounting_test {
namespace {

using namespace literals;
using testing::copy;
using testing::empty_graph;
using testing::small_system;

TEST(Accounting, SumsPayloadByDeviceDirectionAndClass) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  graph.add(copy(system, 1000_B));
  graph.add(copy(system, 234_B));
  const Accounting a = account(graph, system, system.plan(graph));
  const auto device = [&](std::string_view name) -> const DeviceSum& {
    for (std::size_t d = 0; d < system.device_names().size(); ++d)
      if (system.device_names()[d] == name) return a.traffic[d];
    throw std::out_of_range("no such device");
  };
  EXPECT_EQ(total(device("pool").read.payload), 1234_B);
  EXPECT_EQ(device("pcie").read.payload[static_cast<std::size_t>(TensorClass::keys)], 1234_B);
  EXPECT_EQ(device("hbm").write.payload[static_cast<std::size_t>(TensorClass::staging)], 1234_B);
  EXPECT_EQ(total(device("hbm").read.payload), 0_B);
}

TEST(Accounting, ATierThatIsTooSmallIsNamedWithWhatFillsIt) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  const TierId hbm = system.tier("hbm");
  graph.tensors = {{TensorClass::weights, hbm, 600 * 1_MiB}, {TensorClass::keys, hbm, 424 * 1_MiB}};
  EXPECT_TRUE(overflows(graph, system).empty());  // exactly full
  graph.tensors.push_back({TensorClass::staging, hbm, 1_B});
  const auto over = overflows(graph, system);
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(
      over[0].text,
      "tier 'hbm' holds 1 GiB and 1 GiB are needed: weights 600 MiB, keys 424 MiB, staging 1 B");
}

}  // namespace
}  // namespace tiersim::accounting_test
