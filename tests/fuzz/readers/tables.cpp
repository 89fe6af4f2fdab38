#include <algorithm>

#include "hwmodels/calibrate/table/timing_table.hpp"
#include "sim/config/describe.hpp"
#include "sim/validate/run_table.hpp"
#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::fuzz {
namespace {

template <class Config>
std::vector<Config> descriptions(const char* folder, std::string_view kind) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(shipped_configs() / folder))
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Config> out;
  for (const auto& file : files) {
    Diagnostics diagnostics;
    const LoadOptions options{.overrides = {}, .config_root = shipped_configs()};
    const Document document = load_document(file, options, diagnostics);
    out.push_back(read<Config>(document, kind, diagnostics));
    promise(diagnostics.ok(), diagnostics.text());
  }
  return out;
}

template <class Table>
void expect_places_of(const Expected<Table, Diagnostics>& table) {
  if (table) return;
  promise(!table.error().ok(), "refused without a mistake");
  expect_places(table.error());
}

}  // namespace

void read_tables(std::string_view text) {
  static const auto timings = descriptions<TimingTableConfig>("calibration/tables", "timing_table");
  static const auto runs = descriptions<RunTableConfig>("run_tables", "run_table");
  constexpr double kL2Bytes = 50e6;
  for (const TimingTableConfig& config : timings)
    expect_places_of(read_timing_table("table", text, config, kL2Bytes));
  for (const RunTableConfig& config : runs) expect_places_of(read_run_table("table", text, config));
}

}  // namespace tiersim::fuzz
