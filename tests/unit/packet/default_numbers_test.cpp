// The numbers of an empty packet_level mapping. They state their source, since records hold them
// and are configurations themselves.
#include "hwmodels/packet/default_numbers.hpp"

#include <gtest/gtest.h>

#include "hwmodels/packet/collective/collective_packet_config.hpp"
#include "hwmodels/packet/cxl/from_flow.hpp"
#include "hwmodels/packet/dram/dram_config.hpp"
#include "hwmodels/packet/nvlink/nvlink_packet_config.hpp"
#include "hwmodels/packet/pcie/from_flow.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::default_numbers_test {
namespace {

template <class Config>
class DefaultNumbers : public ::testing::Test {};
using Mappings = ::testing::Types<DramPacketConfig, PciePacketDetails, CxlPacketDetails,
                                  NvlinkPacketConfig, NvswitchPacketConfig, CollectivePacketConfig>;
TYPED_TEST_SUITE(DefaultNumbers, Mappings);

TYPED_TEST(DefaultNumbers, HaveSources) {
  Diagnostics diagnostics;
  const Document document = load_text("schema: tiersim.packet/v1\n", "p.yaml", {}, diagnostics);
  const auto numbers = list_numbers(read<TypeParam>(document, "packet", diagnostics));
  ASSERT_GE(numbers.size(), 2U);
  for (const SourcedNumber& number : numbers) EXPECT_NE(number.source, "") << number.path;
}

}  // namespace
}  // namespace tiersim::default_numbers_test
