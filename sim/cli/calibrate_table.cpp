#include "sim/cli/calibrate_table.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/calibrate/fit/write_forms.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"
#include "hwmodels/calibrate/table/timing_table.hpp"
#include "reports/calibration/timing_table_report.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/timing_files.hpp"
#include "sim/config/describe.hpp"
#include "sim/record/table_json.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

constexpr double kWorstMedian = 0.2;  // of errors on unseen shapes: beyond, a fit tells too little

[[noreturn]] void refuse_usage(const std::string& text) {
  throw Failure(ExitCode::usage, "tiersim: error: " + printable(text));
}

TableCeilings ceilings_of(const TableArguments& arguments) {
  TableCeilings ceilings;
  if (!arguments.l2.empty()) {
    const auto size = parse_cache_size(arguments.l2);
    if (!size) refuse_usage(fmt::format("--l2 '{}': {}", arguments.l2, size.error()));
    ceilings.l2_bytes = *size;
  }
  constexpr std::string_view kFlops = "flops.";
  for (const TimingPeak& peak : arguments.peaks) {
    if (peak.name == "memory") ceilings.memory = peak.value;
    if (peak.name == "port") ceilings.port = peak.value;
    if (peak.name.starts_with(kFlops)) ceilings.flops[peak.name.substr(kFlops.size())] = peak.value;
  }
  return ceilings;
}

// The data sheet that a fit needs; names what is missing.
GpuSheet gpu_of(const TableArguments& arguments, const TableCeilings& ceilings,
                const TimingKernel& kernel) {
  const double peak = ceilings.peak(kernel.dtype);
  std::vector<std::string> missing;
  if (!kernel.operation.empty()) {
    if (ceilings.port > 0) return {.port = ceilings.port};
    refuse_usage(
        fmt::format("a fit of '{}' needs the data sheet: --peak port=RATE (--check fits "
                    "nothing)",
                    kernel.name));
  }
  if (ceilings.memory <= 0) missing.emplace_back("--peak memory=RATE");
  if (peak <= 0) missing.push_back("--peak flops." + kernel.dtype + "=RATE");
  if (ceilings.l2_bytes <= 0) missing.emplace_back("--l2 SIZE");
  if (arguments.sms <= 0) missing.emplace_back("--sms NUMBER");
  if (!missing.empty())
    refuse_usage(fmt::format("a fit of '{}' needs the data sheet: {} (--check fits nothing)",
                             kernel.name, join(missing)));
  return {.memory = ceilings.memory,
          .peak = peak,
          .l2_bytes = ceilings.l2_bytes,
          .sms = static_cast<double>(arguments.sms)};
}

std::string source_of(const FormFit& fit, const TimingKernel& kernel, const TimingTable& table,
                      const TimingTableConfig& config) {
  const std::string errors =
      fit.unseen.rows == 0 ? fmt::format("own rows: median {:.1f} %, 90th percentile {:.1f} %",
                                         100 * fit.fitted.median, 100 * fit.fitted.p90)
                           : fmt::format("unseen shapes: median {:.1f} %, 90th percentile {:.1f} %",
                                         100 * fit.unseen.median, 100 * fit.unseen.p90);
  return fmt::format("fitted to {} of {} rows of {}{}{}; {}", fit.rows, kernel.read,
                     fs::path(table.file).filename().string(), config.source.empty() ? "" : ", ",
                     config.source, errors);
}

// Fits that tell enough and whose arithmetic an operation can have; the others are named.
std::vector<WrittenForm> written(const std::vector<FittedKernel>& fits,
                                 const std::vector<GpuSheet>& gpus, const TimingTable& table,
                                 const TimingTableConfig& config) {
  std::vector<WrittenForm> out;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const TimingKernel& kernel = *fits[i].kernel;
    if (!fits[i].fit) continue;
    const FitErrors& unseen = fits[i].fit->unseen;
    if (unseen.median > kWorstMedian) {
      fmt::print(stderr,
                 "note: '{}' is not written: its median error on unseen shapes is {:.1f} %\n",
                 printable(kernel.name), 100 * unseen.median);
      continue;
    }
    const auto host = kernel.refused.find(kLaunchedByHost);
    if (host != kernel.refused.end() && host->second.count > unseen.rows) {
      fmt::print(stderr, "note: '{}' is not written: {} of its rows were launched by the host\n",
                 printable(kernel.name), host->second.count);
      continue;
    }
    const bool collective = !kernel.operation.empty();
    if (collective &&
        std::ranges::find(out, kernel.operation, &WrittenForm::operation) != out.end()) {
      fmt::print(stderr, "note: '{}' is not written: another kernel does {}\n",
                 printable(kernel.name), printable(kernel.operation));
      continue;
    }
    if (!collective &&
        std::ranges::find(kArithmeticNames, kernel.dtype) == kArithmeticNames.end()) {
      fmt::print(stderr, "note: '{}' is not written: no operation of a step is of type '{}'\n",
                 printable(kernel.name), printable(kernel.dtype));
      continue;
    }
    const auto family = config.form->family;
    out.push_back({.kernel = kernel.name,
                   .family = family ? std::string(name(*family)) : "",
                   .arithmetic = kernel.dtype,
                   .source = source_of(*fits[i].fit, kernel, table, config),
                   .fit = &*fits[i].fit,
                   .sheet = gpus[i],
                   .operation = kernel.operation});
  }
  return out;
}

void write(const TableArguments& arguments, const std::vector<WrittenForm>& forms) {
  if (forms.empty()) {
    fmt::print(stderr, "note: nothing is written: no fit of '{}' can be used\n",
               printable(arguments.table));
    return;
  }
  const fs::path folder = arguments.output;
  const fs::path file = folder / (fs::path(arguments.table).stem().string() + ".yaml");
  if (!forms.front().operation.empty()) {
    write_file(file, timed_collectives_yaml(arguments.command, arguments.calibration,
                                            arguments.part, forms));
    return;
  }
  write_file(file,
             timed_kernels_yaml(arguments.command, arguments.calibration, arguments.part, forms));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".yaml" && entry.path().filename() != "gpu.yaml" &&
        read_file(entry.path()).find("\ntimed_kernels:") != std::string::npos)
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  write_file(folder / "gpu.yaml",
             fmt::format("# Written by `tiersim calibrate --table`.\nschema: tiersim.device/v1\n"
                         "base: [{}]\n",
                         join(names)));
}

}  // namespace

ExitCode calibrate_table(const TableArguments& arguments) {
  const TimingTableConfig config = load_description(arguments.table);
  const TableCeilings ceilings = ceilings_of(arguments);
  const TimingTable table = read_tables(arguments.files, config, ceilings);
  if (!arguments.output.empty() && !config.form)
    refuse_usage(fmt::format("--out: the description '{}' has no form to fit", arguments.table));
  std::vector<FittedKernel> fits;
  std::vector<GpuSheet> gpus;  // all that is missing is said before the first fit
  if (config.form && !arguments.check_only) {
    const KernelForm& form = *find_form(config.form->name);
    for (const TimingKernel& kernel : table.kernels)
      gpus.push_back(gpu_of(arguments, ceilings, kernel));
    for (std::size_t i = 0; i < gpus.size(); ++i)
      fits.push_back(fit_kernel(form, table.kernels[i], gpus[i]));
  }
  if (!arguments.output.empty()) write(arguments, written(fits, gpus, table, config));
  std::vector<std::pair<std::string, Table>> tables{{"rows", rows_table(table)},
                                                    {"refused", refusals_table(table)}};
  if (!fits.empty()) {
    tables.emplace_back("errors", errors_table(fits));
    tables.emplace_back("parameters", parameters_table(fits));
  }
  std::string json;
  for (const auto& [name, rows] : tables) {
    if (arguments.json)
      json += fmt::format("{}\"{}\": {}", json.empty() ? "{" : ", ", name, to_json(rows));
    else
      fmt::print("{}{}", name == "rows" ? "" : "\n", to_text(rows));
  }
  if (arguments.json) fmt::print("{}}}\n", json);
  return ExitCode::ok;
}

}  // namespace tiersim::cli
