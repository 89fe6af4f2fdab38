#include <algorithm>
#include <map>

#include "hwmodels/calibrate/table/timing_table.hpp"
#include "sim/config/describe.hpp"
#include "sim/validate/run_table.hpp"
#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::fuzz {
namespace {

constexpr double kL2Bytes = 50e6;

template <class Config>
std::map<std::string, Config, std::less<>> descriptions(const char* folder, std::string_view kind) {
  std::map<std::string, Config, std::less<>> out;
  for (const auto& entry : std::filesystem::directory_iterator(shipped_configs() / folder)) {
    Diagnostics diagnostics;
    const LoadOptions options{.overrides = {}, .config_root = shipped_configs()};
    const Document document = load_document(entry.path(), options, diagnostics);
    out.emplace(entry.path().stem().string(), read<Config>(document, kind, diagnostics));
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

// The text up to `end`, which is taken from the begin; all of it where `end` does not occur.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(std::min(at + end.size(), text.size()));
  return out;
}

void read_timings_by(const TimingTableConfig& config, std::string_view text) {
  auto read = read_timing_table("table", text, config, kL2Bytes);
  expect_places_of(read);
  if (!read) return;
  TimingTable table = *std::move(read);
  const TableCeilings ceilings{
      .memory = 4.8e12, .port = 450e9, .l2_bytes = kL2Bytes, .flops = {{"bf16", 1e15}}};
  check_timing_table(config, ceilings, table);
  for (const TimingKernel& kernel : table.kernels) (void)noise_floor(kernel);
}

}  // namespace

// The first line is the name of a shipped description.
void read_tables(std::string_view text) {
  static const auto timings = descriptions<TimingTableConfig>("calibration/tables", "timing_table");
  static const auto runs = descriptions<RunTableConfig>("run_tables", "run_table");
  const std::string_view name = take_until(text, "\n");
  if (const auto found = timings.find(name); found != timings.end())
    read_timings_by(found->second, text);
  if (const auto found = runs.find(name); found != runs.end())
    expect_places_of(read_run_table("table", text, found->second));
}

// A description, a line of three dashes, and the table: reports of nsys and nvbench.
void read_profiles(std::string_view text) {
  const std::string description(take_until(text, "\n---\n"));
  Diagnostics diagnostics;
  const Document document = load_text(description + '\n', "description.yaml", {}, diagnostics);
  const auto config = read<TimingTableConfig>(document, "timing_table", diagnostics);
  if (!diagnostics.ok()) return expect_places(diagnostics);
  read_timings_by(config, text);
}

}  // namespace tiersim::fuzz
