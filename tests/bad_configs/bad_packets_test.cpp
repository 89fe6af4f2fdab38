// The cases of packets.txt: a shipped scenario with devices at packet level that cannot be.
#include "sim/step/importers.hpp"
#include "sim/step/scenario.hpp"
#include "tests/bad_configs/bad_files.hpp"

namespace tiersim::bad_packets_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("packets");
  return all;
}

class BadPackets : public ::testing::TestWithParam<std::string> {};

TEST_P(BadPackets, IsReportedInTheExpectedWords) {
  const LoadOptions options{.config_root = testing::shipped_configs(),
                            .importers = make_all_importers()};
  EXPECT_EQ(files().told<ScenarioConfig>(GetParam(), "scenario", options),
            files().expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BadPackets, ::testing::ValuesIn(files().names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim::bad_packets_test
