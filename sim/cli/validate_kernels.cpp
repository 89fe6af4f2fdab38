#include "sim/cli/validate_kernels.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "reports/render/figure_svg.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/kernel_answers.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct ValidateKernelsArguments {
  std::vector<std::string> files;
  std::vector<std::string> only;
  std::string table;
  std::string system;
  std::vector<std::string> set;
  std::string hold_out = "nothing";
  std::string folder = "out/kernels";
  std::int64_t jobs = 0;
  bool no_files = false;
  bool json = false;
};

[[noreturn]] void refuse(const std::string& text) {
  throw Failure(ExitCode::usage, "tiersim: error: " + printable(text));
}

void write_charts(const std::vector<KernelErrors>& all, const std::string& folder) {
  for (const Figure& chart : charts_of(all)) {
    const fs::path file = fs::path(folder) / (chart.stem + ".svg");
    write_file(file, to_svg(chart));
    fmt::print(stderr, "tiersim: wrote {}\n", file.string());
  }
}

ExitCode validate_kernels(const ValidateKernelsArguments& options) {
  const auto hold_out = std::ranges::find(kHoldOutNames, options.hold_out);
  if (hold_out == kHoldOutNames.end())
    refuse(fmt::format("--hold-out '{}': one of nothing, shape, engine, gpu", options.hold_out));
  const std::vector<KernelTable> tables = kernel_tables(options.files, options.table, options.only);
  if (tables.empty()) refuse("no file to compare: name tables of timings, or a folder of them");
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const std::vector<KernelErrors> all =
      answer_tables({.hold_out = static_cast<HoldOut>(hold_out - kHoldOutNames.begin()),
                     .system = options.system,
                     .set = options.set},
                    tables, options.jobs == 0 ? cores : options.jobs);
  fmt::print("{}", options.json ? to_json(all) : to_text(kernel_errors_table(all)));
  if (!options.no_files && !options.json) write_charts(all, options.folder);
  const auto missed = std::ranges::count_if(all, misses_goal);
  if (missed == 0) return ExitCode::ok;
  fmt::print(stderr, "tiersim: {} of {} families miss their goals\n", missed, all.size());
  return ExitCode::target_missed;
}

}  // namespace

void add_validate_kernels(Verb validate) {
  auto options = std::make_shared<ValidateKernelsArguments>();
  Verb verb = validate.add("kernels", "Compare kernel times with tables of timings");
  verb.footer(
      "A file's path says what it is of: GPU/TABLE__ENGINE_VERSION.csv.gz; its system is the "
      "first\n"
      "of that GPU, and its calibration that of the engine where one is shipped. Rows that cannot\n"
      "be are refused first, as by `tiersim calibrate --table`. --hold-out asks fits that have "
      "not\n"
      "seen what they are asked about: the same shapes (fitted again here, which takes minutes),\n"
      "another engine's kernels, or the nearest other GPU.\n"
      "The exit status is 5 where a family misses the goal that its table's description states.");
  verb.option("FILE", options->files, "Tables of timings, or folders of them").required();
  verb.option("--table", options->table,
              "Description of the files: a name in configs/calibration/tables, or a file");
  verb.option("--only", options->only, "Compare only files of this table (repeatable)");
  verb.option("--system", options->system, "System that answers, instead of the first of the GPU");
  verb.option("--set", options->set,
              "Override a setting of the system: gpu.calibration=none (repeatable)")
      .type(kSettingType);
  verb.option("--hold-out", options->hold_out,
              "What fits have not seen: nothing, shape, engine, gpu")
      .show_default();
  verb.option("-o,--out", options->folder, "Folder for the pictures").show_default();
  verb.option("-j,--jobs", options->jobs, "Number of files at a time; 0 is one for each core")
      .between(0, 1024);
  verb.flag("--no-files", options->no_files, "Write no pictures");
  verb.flag("--json", options->json, "Print JSON instead of the table, and write no pictures");
  verb.on_chosen([options] { return validate_kernels(*options); });
}

}  // namespace tiersim::cli
