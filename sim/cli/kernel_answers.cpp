#include "sim/cli/kernel_answers.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/timing_files.hpp"
#include "sim/config/describe.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct TableTask {
  const KernelTable* table = nullptr;
  std::vector<KernelErrors> errors = {};
  std::exception_ptr thrown = {};
};

[[noreturn]] void refuse(const std::string& text) {
  throw Failure(ExitCode::usage, "tiersim: error: " + printable(text));
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
  explicit Asker(const KernelQuestion& question) : question_(question) {}

  std::vector<KernelErrors> answer(const KernelTable& table) const {
    const KnownPart part = part_of(table.file);
    std::vector<std::string> set = question_.set;
    std::string by = "settings";
    if (!names_calibration(set)) {
      const std::string name = calibration_for(table, part);
      by = name.empty() ? "the system's" : name;
      if (!name.empty()) set.push_back("gpu.calibration=" + name);
    }
    const auto system = load_system(part.system, set);
    const TimingTable timed =
        read_tables({table.file.path.string()}, table.description, ceilings_of(*system));
    std::map<std::string, KernelErrors> by_type;
    for (const TimingKernel& kernel : timed.kernels) {
      KernelErrors& errors = by_type[kernel.dtype];
      errors.by = question_.hold_out == HoldOut::shape ? "fits without a fifth of the shapes" : by;
      ++errors.kernels;
      if (question_.hold_out == HoldOut::shape)
        add_held_out(table, kernel, *system, errors);
      else
        add_answers(table, kernel, *system, errors);
      errors.noise = std::max(errors.noise, noise_floor(kernel).median);
    }
    std::vector<KernelErrors> out;
    for (auto& [dtype, errors] : by_type) {
      if (errors.rows.empty()) continue;
      errors.gpu = part.name;
      errors.engine = table.file.engine + ' ' + table.file.version;
      errors.table = fs::path(table.file.description).stem().string();
      errors.family = name(*table.description.form->family);
      errors.dtype = dtype;
      for (const TableGoal& goal : table.description.goals)
        if (std::ranges::find(goal.types, dtype) != goal.types.end()) errors.goal = goal;
      out.push_back(std::move(errors));
    }
    return out;
  }

 private:
  KnownPart part_of(const TimedFile& file) const {
    if (!question_.system.empty()) return {file.folder, question_.system};
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
  std::string calibration_for(const KernelTable& table, const KnownPart& part) const {
    std::string own = fmt::format("{}/{}-{}", part.name, table.file.engine, table.file.version);
    const ShippedCalibration* best = nullptr;
    double least = 0;
    const auto same_version = [&](const ShippedCalibration& each) {
      return each.name.ends_with('-' + table.file.version);
    };
    std::unique_ptr<System> here;
    for (const ShippedCalibration& each : calibrations_) {
      const bool same_part = each.part == part.name;
      const bool same_engine = each.engine == table.file.engine;
      switch (question_.hold_out) {
        case HoldOut::nothing:
        case HoldOut::shape:
          if (each.name == own) return own;
          break;
        case HoldOut::engine:  // that with the most tables is the engine's usual version
          if (!same_part || same_engine || !each.has(table.alike)) break;
          if (best == nullptr || each.tables.size() > best->tables.size()) best = &each;
          break;
        case HoldOut::gpu: {
          if (same_part || !same_engine || !each.has(table.alike)) break;
          if (!here) here = load_system(part.system, {});
          const auto other = std::ranges::find(parts_, each.part, &KnownPart::name)->system;
          const double far = distance(*here, *load_system(other, {}));
          if (best != nullptr && (far > least || (far == least && !same_version(each)))) break;
          best = &each;
          least = far;
          break;
        }
      }
    }
    if (best != nullptr) return best->name;
    const bool must = question_.hold_out == HoldOut::engine || question_.hold_out == HoldOut::gpu;
    return must ? "none" : "";
  }

  static void add_answers(const KernelTable& table, const TimingKernel& kernel,
                          const System& system, KernelErrors& errors) {
    for (const TimingRow& row : kernel.rows)
      if (auto answer = answer_row(system, *table.description.form, kernel.dtype, row))
        errors.rows.push_back(*answer);
  }

  static void add_held_out(const KernelTable& table, const TimingKernel& kernel,
                           const System& system, KernelErrors& errors) {
    const TableCeilings ceilings = ceilings_of(system);
    const double peak = ceilings.peak(kernel.dtype);
    if (peak <= 0) return;
    const GpuSheet gpu{.memory = ceilings.memory,
                       .peak = peak,
                       .l2_bytes = ceilings.l2_bytes,
                       .sms = static_cast<double>(system.compute_sheet().sms)};
    const FittedKernel fitted = fit_kernel(*find_form(table.description.form->name), kernel, gpu);
    if (!fitted.fit) return;
    for (const HeldOutTime& row : fitted.fit->held_out)
      errors.rows.push_back({.measured = row.measured,
                             .simulated = row.predicted,
                             .low = row.predicted * fitted.fit->scatter.low,
                             .high = row.predicted * fitted.fit->scatter.high});
  }

  const KernelQuestion& question_;
  std::vector<KnownPart> parts_ = known_parts();
  std::vector<ShippedCalibration> calibrations_ = shipped_calibrations();
};

}  // namespace

std::vector<KernelErrors> answer_tables(const KernelQuestion& question,
                                        const std::vector<KernelTable>& tables, std::int64_t jobs) {
  const Asker asker(question);
  std::vector<TableTask> tasks;
  for (const KernelTable& table : tables) tasks.push_back({.table = &table});
  ProgressLine progress("tables");
  std::atomic<std::size_t> next{0};
  std::atomic<std::int64_t> done{0};
  const auto work = [&](bool shows) {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      try {
        tasks[i].errors = asker.answer(*tasks[i].table);
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
  std::vector<KernelErrors> out;
  for (TableTask& task : tasks) {
    if (task.thrown) std::rethrow_exception(task.thrown);
    for (KernelErrors& errors : task.errors) out.push_back(std::move(errors));
  }
  return out;
}

}  // namespace tiersim::cli
