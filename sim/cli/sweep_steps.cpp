#include "sim/cli/sweep_steps.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/cli/file_lock.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/progress.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

// The last sweep of the same SPEC with files that have changed since, if it is unfinished.
std::optional<StoredSweep> unfinished(SweepStore& store, const SweepPlan& plan) {
  std::optional<StoredSweep> out = last_of(store, plan.sweep().spec, plan.sweep().version);
  if (!out) return std::nullopt;
  std::int64_t done = 0;
  store.done(out->sweep, true, [&](std::int64_t) { ++done; });
  return out->points == done ? std::nullopt : out;
}

// Adds the sweep to the store, or finds it there.
void begin(const SweepArguments& options, SweepPlan& plan, SweepStore& store) {
  if (adopt_stored(options, plan, store)) return;
  const SweepInputs inputs = plan.inputs();
  const std::int64_t number = store.add(plan.sweep(), inputs);
  StoredSweep sweep = plan.sweep();
  sweep.sweep = number;
  plan.adopt(sweep, inputs);
}

std::string command_to_resume(const SweepArguments& options, const fs::path& store) {
  std::string out = "tiersim sweep " + shell_word(options.spec);
  for (const std::string& option : options.set) out += " --set " + shell_word(option);
  if (options.shard != "1/1") out += " --shard " + options.shard;
  if (!options.store.empty()) out += " -o " + shell_word(store.string());
  if (options.threads > 0) out += fmt::format(" -j {}", options.threads);
  if (options.retry_failed) out += " --retry-failed";
  if (options.fail_fast) out += " --fail-fast";
  if (options.joined) out += " --join";
  return printable(out) + " --resume";
}

// Runs a shard into a store, which is made if it is missing.
SweepSummary run_into_store(const SweepArguments& options, SweepPlan& plan, const SweepOptions& how,
                            const fs::path& path, const std::atomic<bool>& stop,
                            const std::function<std::int64_t()>& of_others, bool& made) {
  const FileLock lock(path);
  made = true;
  SweepSummary summary{.store = path, .shard = how.shard};
  SweepStore store(path, SweepStore::Access::write);
  begin(options, plan, store);
  ProgressLine line("points");
  const auto progress = [&](const SweepProgress& p) {
    const std::string failed = p.failed > 0 ? fmt::format("{} failed", p.failed) : "";
    const std::int64_t others = of_others ? of_others() : 0;
    line.update(std::min(p.finished + others, p.points), p.before, p.points, failed);
  };
  try {
    summary.outcome = run_sweep(plan, store, how, stop, progress);
  } catch (const DamagedStore&) {
    throw;
  } catch (const StoreError& error) {
    throw Failure(ExitCode::usage,
                  printable(fmt::format("tiersim: error: {}; what was finished before is kept, and "
                                        "--resume goes on from there",
                                        error.what())));
  }
  summary.seconds = line.elapsed();
  summarise(store, plan.sweep(), summary);
  return summary;
}

}  // namespace

bool adopt_stored(const SweepArguments& options, SweepPlan& plan, SweepStore& store) {
  std::optional<StoredSweep> there = store.find(plan.sweep().digest);
  if (!there && options.resume) {
    there = unfinished(store, plan);
    if (there)
      fmt::print(stderr,
                 "tiersim: a file of this sweep has changed since it began; it goes on with the "
                 "files as they were (without --resume it begins anew)\n");
  }
  if (!there) return false;
  store.expect_whole();
  plan.adopt(*there, store.inputs(there->sweep));
  if (options.resume || options.retry_failed) return true;
  std::int64_t done = 0;
  store.done(there->sweep, true, [&](std::int64_t) { ++done; });
  if (there->points && done == *there->points) return true;  // complete already
  throw Failure(ExitCode::usage,
                printable(fmt::format("tiersim: error: '{}' has {} points of this sweep already; "
                                      "--resume goes on with it",
                                      store.path().string(), done)));
}

Failure moved_away(const fs::path& path) {
  return {ExitCode::usage, printable(fmt::format(
                               "tiersim: error: '{}' was moved or removed while the sweep wrote to "
                               "it; its points are where it is now, and --resume there goes on",
                               path.string()))};
}

// SQLite cannot tell that its file has another name now: it fails to read or write some part.
SweepSummary run_shard(const SweepArguments& options, SweepPlan& plan, const SweepOptions& how,
                       const fs::path& path, const std::atomic<bool>& stop,
                       const std::function<std::int64_t()>& of_others) {
  bool made = false;
  try {
    return run_into_store(options, plan, how, path, stop, of_others, made);
  } catch (const std::runtime_error&) {  // StoreError, or Failure with its text
    if (made && !fs::exists(path)) throw moved_away(path);
    throw;
  }
}

ExitCode report(const SweepArguments& options, const SweepSummary& summary, bool interrupted) {
  fmt::print("{}", options.json ? to_json(summary) : to_text(summary));
  if (summary.failure)
    fmt::print(stderr, "tiersim: error: {} failed, the first: {}\n", summary.failed,
               printable(first_failure(summary)));
  if (!summary.outcome.complete)
    fmt::print(stderr, "tiersim: stopped; go on with: {}\n",
               command_to_resume(options, summary.store));
  if (interrupted) return ExitCode::interrupted;
  return summary.failed > 0 ? ExitCode::points_failed : ExitCode::ok;
}

}  // namespace tiersim::cli
