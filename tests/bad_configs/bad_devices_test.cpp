// The cases of devices.txt: a shipped device with a mistake. The folder in a name says what kind of
// device it is to be.
#include "sim/step/importers.hpp"
#include "sim/step/system_config.hpp"
#include "tests/bad_configs/bad_files.hpp"

namespace tiersim::bad_devices_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("devices");
  return all;
}

template <class Interface>
std::string told_of(const std::string& name) {
  return files().told<DeviceConfig<Interface>>(
      name, "device",
      {.config_root = testing::shipped_configs(), .importers = make_all_importers()});
}

std::string told(const std::string& name) {
  return name.starts_with("memory/")       ? told_of<MemoryTier>(name)
         : name.starts_with("link/")       ? told_of<Link>(name)
         : name.starts_with("request/")    ? told_of<Requester>(name)
         : name.starts_with("collective/") ? told_of<Collective>(name)
                                           : told_of<ComputeUnit>(name);
}

class BadDevice : public ::testing::TestWithParam<std::string> {};

TEST_P(BadDevice, IsReportedInTheExpectedWords) {
  EXPECT_EQ(told(GetParam()), files().expected(GetParam()));
}

std::string test_name(const ::testing::TestParamInfo<std::string>& test) {
  std::string out = test.param;
  std::ranges::replace(out, '/', '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, BadDevice, ::testing::ValuesIn(files().names()), test_name);

}  // namespace
}  // namespace tiersim::bad_devices_test
