// The cases of sweeps.txt: SPECs of sweeps of shipped scenarios.
#include "sim/step/importers.hpp"
#include "sim/sweep/setting_check.hpp"
#include "sim/sweep/sweep_plan.hpp"
#include "tests/bad_configs/bad_files.hpp"

namespace tiersim::bad_sweeps_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("sweeps");
  return all;
}

std::string told(const std::filesystem::path& file) {
  const LoadOptions options{.config_root = testing::shipped_configs(),
                            .importers = make_all_importers()};
  Diagnostics diagnostics;
  static_cast<void>(SweepPlan::make(file, options, diagnostics));
  return testing::BadFiles::without(files().relative(diagnostics.text()),
                                    testing::shipped_configs());
}

class BadSweep : public ::testing::TestWithParam<std::string> {};

TEST_P(BadSweep, IsReportedInTheExpectedWords) {
  EXPECT_EQ(told(files().file(GetParam())), files().expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BadSweep, ::testing::ValuesIn(files().names()),
                         [](const auto& test) { return test.param; });

TEST(BadSweeps, OfTenAxesAreToldEveryMistakeAtOnce) {
  const std::string text = files().expected("ten_axes");
  EXPECT_GE(std::ranges::count(text, '\n'), 20);
}

class ShippedSweep : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedSweep, HasNoMistake) {
  EXPECT_EQ(told(testing::shipped_configs() / "sweeps" / (GetParam() + ".yaml")), "");
}

std::vector<std::string> shipped() {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::shipped_configs() / "sweeps"))
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().stem().string());
  std::ranges::sort(out);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, ShippedSweep, ::testing::ValuesIn(shipped()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim::bad_sweeps_test
