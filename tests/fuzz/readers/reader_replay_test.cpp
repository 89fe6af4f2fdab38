// Every reader reads its seeds, some of the shipped files, and the inputs that once broke it, in
// any build. The preset `fuzz` lets libFuzzer change them.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::reader_replay_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = TIERSIM_SOURCE_DIR;

struct Reader {
  const char* name;
  void (*read)(std::string_view text);
  std::vector<const char*> shipped;  // folders, of which the first small files are read

  friend void PrintTo(const Reader& reader, std::ostream* out) { *out << reader.name; }
};

std::vector<Reader> readers() {
  return {
      {"expression", fuzz::read_expression, {}},
      {"configuration",
       fuzz::read_configuration,
       {"configs/devices", "configs/models", "configs/systems", "configs/scenarios/methods",
        "configs/serving", "configs/sweeps", "configs/servers", "configs/engines",
        "configs/economics", "configs/predictions", "configs/run_tables",
        "configs/calibration/tables", "reports/targets"}},
      {"settings", fuzz::read_settings, {}},
      {"hf_config", fuzz::read_hf_config, {}},
      {"records", fuzz::read_records, {"tests/golden/records"}},
      {"kernel_timings", fuzz::read_kernel_timings, {"tests/unit/hwmodels/data"}},
      {"traces", fuzz::read_traces, {"configs/traces"}},
      {"own_traces", fuzz::read_own_traces, {}},
      {"packed", fuzz::read_packed, {}},
      {"sweep_spec", fuzz::read_sweep_spec, {"configs/sweeps"}},
      {"store", fuzz::read_store, {}},
      {"tables", fuzz::read_tables, {}},
      {"profiles", fuzz::read_profiles, {}},
      {"goals", fuzz::read_goals, {}},
      {"array", fuzz::read_array, {}},
  };
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.is_regular_file()) out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ReaderReplay : public ::testing::TestWithParam<Reader> {};

TEST_P(ReaderReplay, TakesOrRefusesWholeAndCutFiles) {
  constexpr std::size_t kMostFiles = 2;
  constexpr std::uintmax_t kMostBytes = 20'000;
  const Reader& reader = GetParam();
  const fs::path here = kSource / "tests/fuzz/readers";
  std::vector<fs::path> files = files_in(here / "seeds" / reader.name);
  std::ranges::copy(files_in(here / "cases" / reader.name), std::back_inserter(files));
  for (const char* folder : reader.shipped) {
    auto some = files_in(kSource / folder);
    std::erase_if(some, [](const fs::path& path) { return fs::file_size(path) > kMostBytes; });
    some.resize(std::min(some.size(), kMostFiles));
    std::ranges::copy(some, std::back_inserter(files));
  }
  for (const fs::path& file : files) {
    const std::string text = text_of(file);
    for (const std::size_t size : {text.size(), text.size() / 2}) {
      SCOPED_TRACE(file.string() + ", its first " + std::to_string(size) + " bytes");
      EXPECT_NO_THROW(reader.read(std::string_view(text).substr(0, size)));
    }
  }
  reader.read("");
}

INSTANTIATE_TEST_SUITE_P(Readers, ReaderReplay, ::testing::ValuesIn(readers()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace tiersim::reader_replay_test
