#include "sim/cli/validate_kernels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "reports/calibration/kernel_errors.hpp"
#include "reports/render/figure_svg.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/timing_files.hpp"
#include "sim/config/describe.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

/// What a fit must not have seen of the rows that it is asked about.
enum class HoldOut : std::uint8_t { nothing, shape, engine, gpu };
constexpr std::array<std::string_view, 4> kHoldOutNames{"nothing", "shape", "engine", "gpu"};

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

/// A file of timings, by what its path says: <gpu>/<table>__<engine>_<version>.csv.gz.
struct TimedFile {
  fs::path path;
  std::string folder;       ///< "h200_sxm"
  std::string table = {};   ///< "gemm"; empty: not said
  std::string engine = {};  ///< "vllm"; empty: not said
  std::string version = {};
};

/// A calibration of the shipped ones: <part>/<engine>-<version>.
struct ShippedCalibration {
  std::string part;
  std::string engine;
  std::string name;
};

/// A GPU that files can be of.
struct KnownPart {
  std::string name;  ///< "h200"
  fs::path system;
};

struct TableTask {
  TimedFile file;
  TimingTableConfig table;
  std::vector<KernelErrors> errors = {};
  std::exception_ptr thrown = {};
};

[[noreturn]] void refuse(const std::string& text) {
  throw Failure(ExitCode::usage, "tiersim: error: " + printable(text));
}

std::string first_word(const std::string& name) {
  return name.substr(0, name.find('_'));
}

TimedFile timed_file(const fs::path& path) {
  TimedFile out{.path = path, .folder = path.parent_path().filename().string()};
  const std::string name = path.filename().string();
  const std::string stem = name.substr(0, name.find(".csv"));
  const std::size_t mark = stem.find("__");
  if (mark == std::string::npos) return out;
  out.table = stem.substr(0, mark);
  const std::string rest = stem.substr(mark + 2);
  out.engine = first_word(rest);
  if (out.engine.size() < rest.size()) out.version = rest.substr(out.engine.size() + 1);
  return out;
}

std::vector<TimedFile> files_in(const std::vector<std::string>& paths) {
  std::vector<fs::path> found;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      found.emplace_back(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.path().filename().string().find(".csv") != std::string::npos)
        found.push_back(entry.path());
  }
  std::ranges::sort(found);
  std::vector<TimedFile> out;
  for (const fs::path& path : found) out.push_back(timed_file(path));
  return out;
}

std::vector<std::string> described_tables() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(config_root() / "calibration/tables"))
    out.push_back(entry.path().stem().string());
  std::ranges::sort(out);
  return out;
}

// Parts with a calibration, and the first system by name of each.
std::vector<KnownPart> known_parts() {
  std::vector<KnownPart> out;
  for (const auto& entry : fs::directory_iterator(config_root() / "calibration"))
    if (entry.is_directory()) out.push_back({entry.path().filename().string(), {}});
  std::vector<fs::path> systems;
  for (const auto& entry : fs::directory_iterator(config_root() / "systems"))
    systems.push_back(entry.path());
  std::ranges::sort(systems);
  for (KnownPart& part : out) {
    const std::string word = first_word(part.name) + '_';
    for (const fs::path& system : systems) {
      const std::string name = system.filename().string();
      const bool host = name.ends_with("_host_dram.yaml");
      if (name.starts_with(word) && (part.system.empty() || host)) part.system = system;
    }
  }
  std::erase_if(out, [](const KnownPart& part) { return part.system.empty(); });
  std::ranges::sort(out, {}, &KnownPart::name);
  return out;
}

std::vector<ShippedCalibration> shipped_calibrations() {
  std::vector<ShippedCalibration> out;
  const fs::path root = config_root() / "calibration";
  for (const KnownPart& part : known_parts())
    for (const auto& entry : fs::directory_iterator(root / part.name)) {
      const std::string name = entry.path().filename().string();
      out.push_back({part.name, name.substr(0, name.find('-')), part.name + '/' + name});
    }
  std::ranges::sort(out, {}, &ShippedCalibration::name);
  return out;
}

bool has_table(const ShippedCalibration& calibration, const std::string& table) {
  return fs::exists(config_root() / "calibration" / calibration.name / (table + ".yaml"));
}

std::unique_ptr<System> load_system(const fs::path& path, const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  const Document document = load_document(path, standard_options(set), diagnostics);
  const auto config = read<SystemConfig>(document, "system", diagnostics);
  throw_if_any(diagnostics);
  return std::make_unique<System>(config, PathScaling{}, TierShare{}, 1);
}

bool names_calibration(const std::vector<std::string>& set) {
  return std::ranges::any_of(
      set, [](const std::string& each) { return each.starts_with("gpu.calibration"); });
}

// How far apart two data sheets are: the sum of the logarithms of their ratios.
double distance(const System& a, const System& b) {
  const auto log_ratio = [](auto x, auto y) {
    return std::abs(std::log(static_cast<double>(x.in_base()) / static_cast<double>(y.in_base())));
  };
  return log_ratio(a.own_memory_peak(), b.own_memory_peak()) +
         log_ratio(a.compute_sheet().peaks[0], b.compute_sheet().peaks[0]) +
         log_ratio(a.compute_sheet().l2, b.compute_sheet().l2);
}

class Asker {
 public:
  explicit Asker(const ValidateKernelsArguments& options)
      : options_(options), parts_(known_parts()), calibrations_(shipped_calibrations()) {
    hold_out_ = static_cast<HoldOut>(std::ranges::find(kHoldOutNames, options.hold_out) -
                                     kHoldOutNames.begin());
  }

  void answer(TableTask& task) const {
    const KnownPart part = part_of(task.file);
    std::vector<std::string> set = options_.set;
    std::string by = "settings";
    if (!names_calibration(set)) {
      const std::string name = calibration_for(task, part);
      by = name.empty() ? "the system's" : name;
      if (!name.empty()) set.push_back("gpu.calibration=" + name);
    }
    const auto system = load_system(part.system, set);
    const TimingTable table =
        read_tables({task.file.path.string()}, task.table, ceilings_of(*system));
    std::map<std::string, KernelErrors> by_type;
    for (const TimingKernel& kernel : table.kernels) {
      KernelErrors& errors = by_type[kernel.dtype];
      errors.by = hold_out_ == HoldOut::shape ? "fits without a fifth of the shapes" : by;
      ++errors.kernels;
      if (hold_out_ == HoldOut::shape)
        add_held_out(task, kernel, *system, errors);
      else
        add_answers(task, kernel, *system, errors);
      errors.noise = std::max(errors.noise, noise_floor(kernel).median);
    }
    for (auto& [dtype, errors] : by_type) {
      if (errors.rows.empty()) continue;
      errors.gpu = part.name;
      errors.engine = task.file.engine + ' ' + task.file.version;
      errors.table = task.file.table;
      errors.family = name(*task.table.form->family);
      errors.dtype = dtype;
      for (const TableGoal& goal : task.table.goals)
        if (std::ranges::find(goal.types, dtype) != goal.types.end()) errors.goal = goal;
      task.errors.push_back(std::move(errors));
    }
  }

 private:
  KnownPart part_of(const TimedFile& file) const {
    if (!options_.system.empty()) return {file.folder, options_.system};
    const auto at = std::ranges::find(parts_, first_word(file.folder),
                                      [](const KnownPart& p) { return first_word(p.name); });
    if (at != parts_.end()) return *at;
    std::vector<std::string> names;
    for (const KnownPart& part : parts_) names.push_back(part.name);
    refuse(
        fmt::format("'{}': its folder '{}' is no GPU that has a calibration (these have: {}); "
                    "name a system with --system",
                    file.path.string(), file.folder, join(names)));
  }

  // The calibration that may answer for this file; empty: that of the system.
  std::string calibration_for(const TableTask& task, const KnownPart& part) const {
    const std::string own = fmt::format("{}/{}-{}", part.name, task.file.engine, task.file.version);
    const ShippedCalibration* best = nullptr;
    double least = 0;
    std::unique_ptr<System> here;
    for (const ShippedCalibration& each : calibrations_) {
      const bool same_part = each.part == part.name;
      const bool same_engine = each.engine == task.file.engine;
      switch (hold_out_) {
        case HoldOut::nothing:
        case HoldOut::shape:
          if (each.name == own) return own;
          break;
        case HoldOut::engine:
          if (same_part && !same_engine && has_table(each, task.file.table)) return each.name;
          break;
        case HoldOut::gpu: {
          if (same_part || !same_engine || !has_table(each, task.file.table)) break;
          if (!here) here = load_system(part.system, {});
          const auto other = std::ranges::find(parts_, each.part, &KnownPart::name)->system;
          const double far = distance(*here, *load_system(other, {}));
          if (best != nullptr && far >= least) break;
          best = &each;
          least = far;
          break;
        }
      }
    }
    if (best != nullptr) return best->name;
    const bool must = hold_out_ == HoldOut::engine || hold_out_ == HoldOut::gpu;
    return must ? "none" : "";
  }

  static void add_answers(const TableTask& task, const TimingKernel& kernel, const System& system,
                          KernelErrors& errors) {
    for (const TimingRow& row : kernel.rows)
      if (auto answer = answer_row(system, *task.table.form, kernel.dtype, row))
        errors.rows.push_back(*answer);
  }

  static void add_held_out(const TableTask& task, const TimingKernel& kernel, const System& system,
                           KernelErrors& errors) {
    const TableCeilings ceilings = ceilings_of(system);
    const double peak = ceilings.peak(kernel.dtype);
    if (peak <= 0) return;
    const GpuSheet gpu{.memory = ceilings.memory,
                       .peak = peak,
                       .l2_bytes = ceilings.l2_bytes,
                       .sms = static_cast<double>(system.compute_sheet().sms)};
    const FittedKernel fitted = fit_kernel(*find_form(task.table.form->name), kernel, gpu);
    if (!fitted.fit) return;
    for (const HeldOutTime& row : fitted.fit->held_out)
      errors.rows.push_back({.measured = row.measured,
                             .simulated = row.predicted,
                             .low = row.predicted * fitted.fit->scatter.low,
                             .high = row.predicted * fitted.fit->scatter.high});
  }

  const ValidateKernelsArguments& options_;
  std::vector<KnownPart> parts_;
  std::vector<ShippedCalibration> calibrations_;
  HoldOut hold_out_ = HoldOut::nothing;
};

// Files of an engine's versions beside the one that a calibration is shipped for are left out,
// where a folder was named.
void drop_other_versions(std::vector<TimedFile>& files,
                         const std::vector<ShippedCalibration>& calibrations,
                         const std::vector<std::string>& named) {
  const auto shipped = [&](const TimedFile& file) {
    return std::ranges::any_of(calibrations, [&](const ShippedCalibration& each) {
      return first_word(each.part) == first_word(file.folder) &&
             each.name.ends_with(fmt::format("/{}-{}", file.engine, file.version)) &&
             has_table(each, file.table);
    });
  };
  const auto is_other = [&](const TimedFile& file) {
    return std::ranges::find(named, file.path.string()) == named.end() && !shipped(file) &&
           std::ranges::any_of(files, [&](const TimedFile& other) {
             return other.folder == file.folder && other.table == file.table &&
                    other.engine == file.engine && shipped(other);
           });
  };
  std::vector<TimedFile> kept;
  for (const TimedFile& file : files) {
    if (is_other(file))
      fmt::print(stderr, "note: left out, a calibration is shipped for another version: {}\n",
                 printable(file.path.string()));
    else
      kept.push_back(file);
  }
  files = std::move(kept);
}

// Files with a description; the other tables are named.
std::vector<TableTask> load_tables(const ValidateKernelsArguments& options) {
  const std::vector<std::string> described = described_tables();
  std::map<std::string, TimingTableConfig> tables;
  std::set<std::string> unknown;
  std::vector<TableTask> tasks;
  std::vector<TimedFile> files = files_in(options.files);
  drop_other_versions(files, shipped_calibrations(), options.files);
  for (TimedFile& file : files) {
    if (!options.table.empty()) file.table = options.table;
    const bool named = options.table.empty();
    if (!options.only.empty() && std::ranges::find(options.only, file.table) == options.only.end())
      continue;
    if (named && std::ranges::find(described, file.table) == described.end()) {
      unknown.insert(file.table.empty() ? file.path.filename().string() : file.table);
      continue;
    }
    auto at = tables.find(file.table);
    if (at == tables.end()) at = tables.emplace(file.table, load_description(file.table)).first;
    if (!at->second.form || !at->second.form->family) continue;
    tasks.push_back({.file = std::move(file), .table = at->second});
  }
  if (!unknown.empty())
    fmt::print(stderr, "note: no description in configs/calibration/tables: {}\n",
               printable(join(std::vector<std::string>(unknown.begin(), unknown.end()))));
  if (tasks.empty()) refuse("no file to compare: name tables of timings, or a folder of them");
  return tasks;
}

void answer_all(const Asker& asker, std::vector<TableTask>& tasks, std::int64_t jobs) {
  ProgressLine progress("tables");
  std::atomic<std::size_t> next{0};
  std::atomic<std::int64_t> done{0};
  const auto work = [&](bool shows) {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      try {
        asker.answer(tasks[i]);
      } catch (...) {
        tasks[i].thrown = std::current_exception();
      }
      ++done;
      if (shows) progress.update(done, 0, static_cast<std::int64_t>(tasks.size()), "");
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::int64_t k = 1; k < jobs; ++k) workers.emplace_back(work, false);
    work(true);
  }
  for (const TableTask& task : tasks)
    if (task.thrown) std::rethrow_exception(task.thrown);
}

void write_charts(const std::vector<KernelErrors>& all, const std::string& folder) {
  for (const Figure& chart : charts_of(all)) {
    const fs::path file = fs::path(folder) / (chart.stem + ".svg");
    write_file(file, to_svg(chart));
    fmt::print(stderr, "tiersim: wrote {}\n", file.string());
  }
}

ExitCode validate_kernels(const ValidateKernelsArguments& options) {
  if (std::ranges::find(kHoldOutNames, options.hold_out) == kHoldOutNames.end())
    refuse(fmt::format("--hold-out '{}': one of nothing, shape, engine, gpu", options.hold_out));
  std::vector<TableTask> tasks = load_tables(options);
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  answer_all(Asker(options), tasks, options.jobs == 0 ? cores : options.jobs);
  std::vector<KernelErrors> all;
  for (TableTask& task : tasks)
    for (KernelErrors& errors : task.errors) all.push_back(std::move(errors));
  fmt::print("{}", options.json ? to_json(all) : to_text(printable(kernel_errors_table(all))));
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
