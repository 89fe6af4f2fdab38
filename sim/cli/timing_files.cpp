#include "sim/cli/timing_files.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "sim/base/gunzip.hpp"
#include "sim/base/text.hpp"
#include "sim/config/describe.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

fs::path description_of(const std::string& table) {
  if (table.find('/') != std::string::npos || fs::path(table).extension() == ".yaml") return table;
  const fs::path folder = config_root() / "calibration/tables";
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  if (std::ranges::find(names, table) != names.end()) return folder / (table + ".yaml");
  const std::string_view near = nearest(table, names);
  throw Failure(
      ExitCode::usage,
      printable(fmt::format("tiersim: error: --table '{}': there is no description of that name{} "
                            "(there are: {}; or name a file)",
                            table, near.empty() ? "" : fmt::format("; did you mean '{}'?", near),
                            join(names))));
}

}  // namespace

TimingTableConfig load_description(const std::string& table) {
  Diagnostics diagnostics;
  const Document document = load_document(description_of(table), standard_options(), diagnostics);
  auto config = read<TimingTableConfig>(document, "timing_table", diagnostics);
  throw_if_any(diagnostics);
  return config;
}

TimingTable read_tables(const std::vector<std::string>& files, const TimingTableConfig& config,
                        const TableCeilings& ceilings) {
  TimingTable all;
  Diagnostics diagnostics;
  for (const std::string& file : files) {
    const auto text = gunzipped(read_file(file));
    if (!text) {
      diagnostics.report({{file, 1, 1}, text.error()});
      continue;
    }
    auto read = read_timing_table(file, *text, config, ceilings.l2_bytes);
    if (!read) {
      for (const Diagnostic& mistake : read.error().list()) diagnostics.report(mistake);
      continue;
    }
    TimingTable table = *std::move(read);
    check_timing_table(config, ceilings, table);
    for (const std::string& note : table.notes) fmt::print(stderr, "note: {}\n", printable(note));
    all.file += (all.file.empty() ? "" : ", ") + file;
    for (TimingKernel& kernel : table.kernels) {
      if (files.size() > 1) kernel.name = fs::path(file).filename().string() + ": " + kernel.name;
      all.kernels.push_back(std::move(kernel));
    }
  }
  throw_if_any(diagnostics);
  return all;
}

FittedKernel fit_kernel(const KernelForm& form, const TimingKernel& kernel, const GpuSheet& gpu) {
  std::vector<FormTiming> timings;
  for (const TimingRow& row : kernel.rows)
    if (form.in_range(row.form_sizes))
      timings.push_back({row.form_sizes, row.shape, row.seconds, row.group});
  const auto inside = static_cast<std::int64_t>(timings.size());
  if (inside < fewest_timings(form)) return {.kernel = &kernel};
  FittedKernel out{.kernel = &kernel, .fit = fit_form(form, std::move(timings), gpu)};
  out.fit->outside = static_cast<std::int64_t>(kernel.rows.size()) - inside;
  return out;
}

}  // namespace tiersim::cli
