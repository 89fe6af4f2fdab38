// tiersim calibrate TIMINGS...: refuses impossible timings, fits every kernel, prints the errors of
// the fits on held-out cases, and writes the files for `system.gpu.calibration`.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hwmodels/calibrate/fit/write_calibration.hpp"
#include "hwmodels/calibrate/read/plausibility.hpp"
#include "hwmodels/calibrate/read/read_csv.hpp"
#include "hwmodels/calibrate/read/read_timings.hpp"
#include "hwmodels/calibrate/read/work_formulas.hpp"
#include "reports/calibration/calibration_tables.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/cli/calibrate_memory.hpp"
#include "sim/cli/calibrate_server.hpp"
#include "sim/cli/calibrate_table.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct CalibrateArguments {
  std::vector<std::string> files;
  std::vector<std::string> peaks;
  ReadOptions reading;
  std::string output;
  FitOptions fit;
  bool check_only = false;
  bool json = false;
  std::vector<std::string> families;
  std::string table;
  std::string l2;
  std::int64_t sms = 0;
};

[[noreturn]] void refuse(const std::string& text) {
  throw Failure(ExitCode::bad_config, text);
}

// "memory=4800 GB/s", "flops.bf16=989 TFLOP/s".
TimingPeak peak_of(const std::string& option) {
  const std::size_t equals = option.find('=');
  const std::string name = option.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
  const bool flops = name.starts_with("flops.") && name.size() > 6;
  const std::vector<std::string> names{"memory", "l2", "link_read", "link_write", "port"};
  if (!flops && std::ranges::find(names, name) == names.end())
    throw Failure(ExitCode::usage,
                  fmt::format("tiersim: error: --peak '{}': no peak has that name (one of: {}, "
                              "flops.<type>)",
                              printable(option), join(names)));
  const auto rate = [&]() -> Expected<double> {
    if (flops) {
      const auto parsed = parse_quantity<FlopRate>(value);
      if (!parsed) return Unexpected(parsed.error());
      return static_cast<double>(parsed->in_base());
    }
    const auto parsed = parse_quantity<Bandwidth>(value);
    if (!parsed) return Unexpected(parsed.error());
    return static_cast<double>(parsed->in_base());
  }();
  if (!rate || *rate <= 0)
    throw Failure(ExitCode::usage, fmt::format("tiersim: error: --peak '{}': {}", printable(option),
                                               rate ? "is not above zero" : rate.error()));
  return {.name = name,
          .value = *rate,
          .hard = true,
          .number_class = NumberClass::specification,
          .source = "command line"};
}

// Requires one device, build and kind, since the fits would otherwise mix them.
void append(TimingSet& all, TimingSet more) {
  const auto expect_same = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a != b)
      refuse(printable(
          fmt::format("{}:1:1: error: is of {} '{}', and {} is of '{}' (calibrate each by "
                      "itself)",
                      more.file, what, b, all.file, a)));
  };
  expect_same("device", all.device, more.device);
  expect_same("build", all.build_id, more.build_id);
  expect_same("class", all.data_class, more.data_class);
  expect_same("L2 size", fmt::format("{} B", all.l2_bytes), fmt::format("{} B", more.l2_bytes));
  std::ranges::move(more.cases, std::back_inserter(all.cases));
  std::ranges::move(more.refused, std::back_inserter(all.refused));
  std::ranges::move(more.notes, std::back_inserter(all.notes));
  for (const auto& [kernel, family] : more.families)
    if (all.families.emplace(kernel, family).first->second != family)
      refuse(printable(fmt::format("{}:1:1: error: the kernel '{}' has another family in {}",
                                   more.file, kernel, all.file)));
  for (TimingPeak& peak : more.peaks) {
    const auto same = std::ranges::find_if(
        all.peaks, [&](const TimingPeak& p) { return p.name == peak.name && p.hard == peak.hard; });
    if (same == all.peaks.end())
      all.peaks.push_back(std::move(peak));
    else if (peak.hard)
      expect_same("peak " + peak.name, fmt::format("{:g}/s", same->value),
                  fmt::format("{:g}/s", peak.value));
  }
  all.date = std::max(all.date, more.date);
}

// "my_gemm=gemm"; a name may hold '=', a family cannot.
void add_family(const std::string& option, TimingSet& set) {
  const std::size_t equals = option.rfind('=');
  const std::string kernel = option.substr(0, std::min(equals, option.size()));
  const std::string family = equals == std::string::npos ? "" : option.substr(equals + 1);
  const auto refuse_option = [&](const std::string& why, const std::string& hint) {
    throw Failure(ExitCode::usage, printable(fmt::format("tiersim: error: --family '{}': {} ({})",
                                                         option, why, hint)));
  };
  const auto known = std::ranges::find(kKernelFamilyNames, family);
  if (known == kKernelFamilyNames.end()) {
    const std::vector<std::string> names(kKernelFamilyNames.begin(), kKernelFamilyNames.end());
    const std::string_view near = nearest(family, names);
    refuse_option("is not NAME=FAMILY",
                  (near.empty() ? "" : fmt::format("did you mean '{}'? ", near)) +
                      "families: " + join(names));
  }
  std::set<std::string> kernels;
  for (const TimingCase& timing : set.cases) kernels.insert(timing.kernel);
  if (!kernels.contains(kernel))
    refuse_option(fmt::format("no row is of the kernel '{}'", kernel),
                  "kernels: " + join(std::vector<std::string>(kernels.begin(), kernels.end())));
  set.families.insert_or_assign(kernel,
                                static_cast<KernelFamily>(known - kKernelFamilyNames.begin()));
}

TimingSet read_all(const CalibrateArguments& options) {
  ReadOptions reading = options.reading;
  for (const std::string& option : options.peaks) reading.peaks.push_back(peak_of(option));
  std::vector<TimingSet> sets;
  Diagnostics diagnostics;
  for (const std::string& file : options.files) {
    auto set = read_timings(file, read_file(file), reading);
    if (set) {
      sets.push_back(*std::move(set));
      continue;
    }
    for (const Diagnostic& diagnostic : set.error().list()) diagnostics.report(diagnostic);
  }
  throw_if_any(diagnostics);
  TimingSet all = std::move(sets.front());
  for (std::size_t i = 1; i < sets.size(); ++i) append(all, std::move(sets[i]));
  for (const std::string& option : options.families) add_family(option, all);
  return all;
}

void expect_plausible(TimingSet& set) {
  Plausible checked = check_timings(set);
  for (const TimingWarning& warning : checked.warnings)
    fmt::print(stderr, "{}\n", printable(text(warning, "warning")));
  std::ranges::copy(checked.notes, std::back_inserter(set.notes));
  for (const std::string& note : set.notes)
    fmt::print(stderr, "{}\n", printable(set.file + ": note: " + note));
  if (!checked.refused.empty()) {
    std::string lines;
    for (const TimingRefusal& refusal : checked.refused) lines += printable(text(refusal)) + '\n';
    std::set<std::string> cases;
    for (const TimingRefusal& refusal : checked.refused) cases.insert(refusal.where);
    refuse(lines + fmt::format("{} of {} rows cannot be: nothing is fitted", cases.size(),
                               checked.kept.size() + cases.size()));
  }
  set.cases = std::move(checked.kept);
}

CalibrationOrigin origin_of(const fs::path& folder) {
  const fs::path clean = folder.has_filename() ? folder : folder.parent_path();
  const std::string part = clean.parent_path().filename().string();
  if (part.empty() || part == "." || part == "..")
    throw Failure(ExitCode::usage,
                  fmt::format("tiersim: error: --out '{}': is not <part>/<name>, by which "
                              "system.gpu.calibration names it",
                              printable(folder.string())));
  return {.name = part + '/' + clean.filename().string(), .part = part};
}

void write(const fs::path& folder, const TimingSet& set, const Calibration& calibration) {
  const CalibrationOrigin origin = origin_of(folder);
  std::string report = fmt::format(
      "# Calibration {}\n{} timings of {}{}{}.\n", origin.name, set.data_class,
      set.device.empty() ? "no named device" : set.device, set.date.empty() ? "" : ", ", set.date);
  for (const Table& table : calibration_tables(calibration)) report += '\n' + to_markdown(table);
  write_file(folder / "cases.csv", cases_csv(calibration));
  write_file(folder / "report.md", report);
  // Written last, because this file makes the folder a calibration.
  write_file(folder / "gpu.yaml", gpu_yaml(set, calibration, origin));
}

// What writes the same calibration from the same files: their names without folders.
std::string command_of(const CalibrateArguments& options) {
  std::string out = "tiersim calibrate --table " + options.table;
  for (const std::string& file : options.files) out += ' ' + fs::path(file).filename().string();
  for (const std::string& peak : options.peaks) out += fmt::format(" --peak \"{}\"", peak);
  if (!options.l2.empty()) out += fmt::format(" --l2 \"{}\"", options.l2);
  if (options.sms != 0) out += fmt::format(" --sms {}", options.sms);
  return printable(out);
}

// Options that a table needs, and those that only the other formats know.
ExitCode run_table(const CalibrateArguments& options) {
  const ReadOptions& reading = options.reading;
  if (!options.families.empty() || !reading.context.empty() || !reading.collective.empty() ||
      !reading.device.empty() || !reading.date.empty() || !reading.data_class.empty() ||
      reading.ranks != 0)
    throw Failure(ExitCode::usage,
                  "tiersim: error: --table takes --out, --check, --json, --peak, --l2 and --sms, "
                  "and no other option");
  if (!options.output.empty() && options.check_only)
    throw Failure(ExitCode::usage, "tiersim: error: --check fits nothing that --out could write");
  TableArguments arguments{.files = options.files,
                           .table = options.table,
                           .peaks = {},
                           .l2 = options.l2,
                           .sms = options.sms,
                           .output = options.output,
                           .calibration = {},
                           .part = {},
                           .command = {},
                           .check_only = options.check_only,
                           .json = options.json};
  if (!options.output.empty()) {
    CalibrationOrigin origin = origin_of(options.output);
    arguments.calibration = std::move(origin.name);
    arguments.part = std::move(origin.part);
    arguments.command = command_of(options);
  }
  for (const std::string& option : options.peaks) arguments.peaks.push_back(peak_of(option));
  return calibrate_table(arguments);
}

ExitCode run(const CalibrateArguments& options) {
  if (options.files.empty())
    throw Failure(ExitCode::usage, "tiersim: error: TIMINGS is required (or a verb: server)");
  if (!options.table.empty()) return run_table(options);
  if (!options.l2.empty() || options.sms != 0)
    throw Failure(ExitCode::usage, "tiersim: error: --l2 and --sms go with --table");
  if (!options.output.empty()) origin_of(options.output);
  TimingSet set = read_all(options);
  expect_plausible(set);
  if (options.check_only) {
    fmt::print("{} cases, none refused\n", set.cases.size());
    return ExitCode::ok;
  }
  const Calibration calibration = calibrate(set, options.fit);
  if (set.data_class == "none")
    refuse(printable(set.file) +
           ":1:1: error: is a dry run, whose times say nothing of any device");
  if (!options.output.empty()) {
    const std::vector<std::string> problems =
        problems_of(set, calibration, origin_of(options.output));
    for (const std::string& problem : problems)
      fmt::print(stderr, "{}\n", printable(set.file + ":1:1: error: " + problem));
    if (!problems.empty()) refuse("nothing was written");
    write(options.output, set, calibration);
  }
  if (options.json) {
    fmt::print("{}", calibration_json(calibration));
    return ExitCode::ok;
  }
  bool first = true;
  for (const Table& table : calibration_tables(calibration)) {
    fmt::print("{}{}", first ? "" : "\n", to_text(table));
    first = false;
  }
  return ExitCode::ok;
}

// The columns of a CSV, and the kernels and families whose work is known by their sizes.
std::string formats_text() {
  std::string out =
      "Columns of a CSV: kernel and a time are required; shape.SIZE for each size; " +
      join(csv_columns()) +
      ".\nSettings of a CSV, as lines \"# KEY: VALUE\": device, date, class, build, l2, "
      "peak.NAME, family.KIND.\n\nFamilies of the simulator (--family NAME=KIND), and the "
      "sizes by which bytes and FLOPs are checked:\n";
  std::map<std::string_view, const WorkFormula*> formulas;
  std::vector<std::string> kernels;
  for (const WorkFormula& formula : work_formulas()) {
    if (formula.family) formulas.emplace(formula.name, &formula);
    const std::string kernel(formula.name);
    if (!formula.family && std::ranges::find(kernels, kernel) == kernels.end())
      kernels.push_back(kernel);
  }
  for (const std::string_view family : kKernelFamilyNames) {
    const auto found = formulas.find(family);
    out += fmt::format(
        "  {:<19} {}\n", family,
        found == formulas.end() ? "no formula: not checked" : join(sizes_of(*found->second)));
  }
  return out + "\nKernels of kernels/, which need no family: " + join(kernels) +
         ".\n\nReports of nsys and nvbench, and tables of any other columns, need a description: "
         "--table FILE. hwmodels/calibrate/FORMATS.md has an example of each format.";
}

}  // namespace

void add_calibrate(Verb program) {
  auto options = std::make_shared<CalibrateArguments>();
  Verb verb = program.add("calibrate", "Fit the times of kernels to measured timings of a device");
  verb.option(
      "TIMINGS", options->files,
      "Timings of one device: JSON of a campaign or of Google Benchmark, CSV, a log of NCCL "
      "tests, or tables of any source, nsys and nvbench among them (--table; also .csv.gz)");
  verb.option("-o,--out", options->output,
              "Write gpu.yaml, report.md and cases.csv into this folder, named <part>/<date>-<id>; "
              "with --table, gpu.yaml and the fits of the table, named <part>/<engine>-<version>")
      .type("DIR");
  verb.option("--peak", options->peaks,
              "Peak rate of the data sheet, if the file states none; NAME is memory, l2, "
              "link_read, link_write, port (to other GPUs) or flops.<type> (repeatable)")
      .type("NAME=VALUE");
  verb.option("--family", options->families,
              "The kernel NAME of the files stands for this family of the simulator: its fit is "
              "written for it, and its bytes and FLOPs are held to the formula of the family "
              "(repeatable; in a CSV: \"# family.KIND: NAME\")")
      .type("NAME=KIND");
  verb.option("--table", options->table,
              "The files are tables of timings that this description explains: a name in "
              "configs/calibration/tables, or a file (schema tiersim.timing_table/v1)")
      .type("NAME");
  verb.option("--l2", options->l2, "Size of the L2 cache, for --table: \"50 MiB\"").type("SIZE");
  verb.option("--sms", options->sms, "Number of multiprocessors, for --table").between(1, 10'000);
  verb.option("--device", options->reading.device, "Name of the device, if the file states none")
      .type("NAME");
  verb.option("--date", options->reading.date,
              "Date of the timings (ISO 8601), if the file states none")
      .type("DATE");
  verb.option("--class", options->reading.data_class,
              "Origin of the timings, if the file states none: measured, reported or synthetic")
      .type("CLASS");
  verb.option("--context", options->reading.context,
              "Column or counter that describes neither work nor shape (repeatable)")
      .type("COLUMN");
  verb.option("--collective", options->reading.collective,
              "Collective of an NCCL log that does not name its test")
      .type("NAME");
  verb.option("--ranks", options->reading.ranks,
              "Number of ranks of an NCCL log that does not list them")
      .between(2, 1 << 20);
  verb.option("--draws", options->fit.draws, "Draws of the bootstrap")
      .between(100, 100'000)
      .show_default();
  verb.option("--seed", options->fit.seed, "Seed of the bootstrap").show_default();
  verb.flag("--check", options->check_only,
            "Only check whether the timings are physically possible; fit nothing");
  verb.flag("--json", options->json, "Print the fits as JSON");
  verb.footer(formats_text());
  add_calibrate_memory(verb);
  add_calibrate_server(verb);
  verb.on_chosen([options] { return run(*options); });
}

}  // namespace tiersim::cli
