// tiersim sweep SPEC: runs the points of a design space into a store. A later run of the same SPEC,
// another shard or another sweep adds to the store.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/file_lock.hpp"
#include "sim/cli/interruption.hpp"
#include "sim/cli/mpi.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/store_merge.hpp"
#include "sim/cli/sweep_text.hpp"
#include "sim/runner/load.hpp"
#include "sim/runner/shipped_file.hpp"
#include "sim/sweep/sweep_plan.hpp"
#include "sim/sweep/sweep_run.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct SweepArguments {
  std::string spec;
  std::vector<std::string> set;
  std::string store;
  std::int64_t threads = 0;
  std::string shard = "1/1";
  bool resume = false;
  bool retry_failed = false;
  bool fail_fast = false;
  bool keep_going = false;
  bool dry_run = false;
  bool mpi = false;
  bool json = false;
};

// "2/3": the second of three parts.
Shard shard_of(const std::string& text) {
  Shard shard;
  const std::size_t slash = text.find('/');
  const auto whole = [](std::string_view part, std::int64_t& value) {
    const auto [at, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && at == part.data() + part.size();
  };
  constexpr std::int64_t kMost = 1'000'000;
  if (slash != std::string::npos && whole(text.substr(0, slash), shard.index) &&
      whole(text.substr(slash + 1), shard.count) && shard.index >= 1 &&
      shard.index <= shard.count && shard.count <= kMost)
    return shard;
  throw Failure(ExitCode::usage,
                fmt::format("tiersim: error: --shard: '{}' is no part of a whole, from 1/N to N/N",
                            printable(text)));
}

fs::path store_of(const SweepArguments& options, const Shard& shard) {
  if (!options.store.empty()) return options.store;
  const std::string part =
      shard.count > 1 ? fmt::format(".{}of{}", shard.index, shard.count) : std::string();
  return fs::path("out/sweeps") / (fs::path(options.spec).stem().string() + part + ".db");
}

// The store of one process under --mpi.
fs::path part_of(const fs::path& path, int rank) {
  return fs::path(path.string() + fmt::format(".part{}", rank + 1));
}

// --resume needs only SPEC, since the store has the other files.
std::unique_ptr<SweepPlan> plan_of(const SweepArguments& options, const fs::path& path) {
  Diagnostics diagnostics;
  const LoadOptions files = standard_options(options.set);
  auto plan = SweepPlan::make(options.spec, files, diagnostics);
  // An aborted job of --mpi leaves only parts.
  const fs::path there = options.mpi && !fs::exists(path) ? part_of(path, 0) : path;
  if (diagnostics.ok() || !options.resume || !SweepStore::is_store(there)) {
    throw_if_any(diagnostics);
    return plan;
  }
  SweepStore store(there, SweepStore::Access::read);
  plan = SweepPlan::resume(options.spec, files, store);
  if (!plan) throw_if_any(diagnostics);
  fmt::print(stderr,
             "tiersim: a file of this sweep is gone or has mistakes now; it goes on with the files "
             "as they were\n");
  return plan;
}

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
  std::optional<StoredSweep> there = store.find(plan.sweep().digest);
  if (!there && options.resume) {
    there = unfinished(store, plan);
    if (there)
      fmt::print(stderr,
                 "tiersim: a file of this sweep has changed since it began; it goes on with the "
                 "files as they were (without --resume it begins anew)\n");
  }
  if (!there) {
    const SweepInputs inputs = plan.inputs();
    const std::int64_t number = store.add(plan.sweep(), inputs);
    StoredSweep sweep = plan.sweep();
    sweep.sweep = number;
    plan.adopt(sweep, inputs);
    return;
  }
  store.expect_whole();
  plan.adopt(*there, store.inputs(there->sweep));
  if (options.resume || options.retry_failed) return;
  std::int64_t done = 0;
  store.done(there->sweep, true, [&](std::int64_t) { ++done; });
  if (there->points && done == *there->points) return;  // complete already
  throw Failure(ExitCode::usage,
                printable(fmt::format("tiersim: error: '{}' has {} points of this sweep already; "
                                      "--resume goes on with it",
                                      store.path().string(), done)));
}

std::string command_to_resume(const SweepArguments& options, const fs::path& store) {
  std::string out = "tiersim sweep " + shell_word(options.spec);
  for (const std::string& option : options.set) out += " --set " + shell_word(option);
  if (options.shard != "1/1") out += " --shard " + options.shard;
  if (!options.store.empty()) out += " -o " + shell_word(store.string());
  if (options.threads > 0) out += fmt::format(" -j {}", options.threads);
  if (options.retry_failed) out += " --retry-failed";
  if (options.fail_fast) out += " --fail-fast";
  if (options.mpi) out += " --mpi";
  return printable(out) + " --resume";
}

Failure moved_away(const fs::path& path) {
  return {ExitCode::usage, printable(fmt::format(
                               "tiersim: error: '{}' was moved or removed while the sweep wrote to "
                               "it; its points are where it is now, and --resume there goes on",
                               path.string()))};
}

// Runs a shard into a store, which is made if it is missing.
SweepSummary run_into_store(const SweepArguments& options, SweepPlan& plan, const SweepOptions& how,
                            const fs::path& path, const std::atomic<bool>& stop, bool& made) {
  const FileLock lock(path);
  made = true;
  SweepSummary summary{.store = path, .shard = how.shard};
  SweepStore store(path, SweepStore::Access::write);
  begin(options, plan, store);
  ProgressLine line("points");
  const auto progress = [&](const SweepProgress& p) {
    const std::string failed = p.failed > 0 ? fmt::format("{} failed", p.failed) : "";
    line.update(p.finished, p.before, p.points, failed);
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

// SQLite cannot tell that its file has another name now: it fails to read or write some part.
SweepSummary run_shard(const SweepArguments& options, SweepPlan& plan, const SweepOptions& how,
                       const fs::path& path, const std::atomic<bool>& stop) {
  bool made = false;
  try {
    return run_into_store(options, plan, how, path, stop, made);
  } catch (const std::runtime_error&) {  // StoreError, or Failure with its text
    if (made && !fs::exists(path)) throw moved_away(path);
    throw;
  }
}

void put_in_order(const fs::path& path) {
  if (!fs::exists(path)) throw moved_away(path);
  const FileLock lock(path);
  if (!compact(path))
    fmt::print(stderr,
               "tiersim: all points are there, but another program is reading the store: its rows "
               "stay in the order in which they came (--resume puts them in order)\n");
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

// Each process runs a shard into a part of its own; the first one merges the parts.
ExitCode sweep_ranks(const SweepArguments& options, SweepPlan& plan, SweepOptions how,
                     const fs::path& path) {
  const auto world = MpiWorld::join();
  const auto part = [&](int rank) { return part_of(path, rank); };
  const std::atomic<bool>& stop = catch_interruption();
  const int rank = world->rank();
  // Parts left by an aborted job, which may have had more processes.
  if (rank == 0) {
    std::vector<fs::path> left;
    while (fs::exists(part(static_cast<int>(left.size()))))
      left.push_back(part(static_cast<int>(left.size())));
    if (!left.empty() && !options.resume)
      throw Failure(ExitCode::usage,
                    printable(fmt::format("tiersim: error: '{}' is of a job that did not end; "
                                          "--resume goes on with it, or remove it",
                                          left.front().string())));
    if (!left.empty()) merge_stores(left, path);
    for (const fs::path& file : left) remove_store(file);
  }
  world->barrier();
  if (fs::exists(path)) SweepStore(part(rank), SweepStore::Access::write).merge(path);
  how.shard = {rank + 1, world->size()};
  SweepSummary summary = run_shard(options, plan, how, part(rank), stop);
  SweepProgress& progress = summary.outcome.progress;
  const std::vector<int> complete = world->gather(summary.outcome.complete ? 1 : 0);
  const std::vector<int> finished = world->gather(static_cast<int>(progress.finished));
  const std::vector<int> before = world->gather(static_cast<int>(progress.before));
  if (rank != 0) return ExitCode::ok;
  progress.finished = std::accumulate(finished.begin(), finished.end(), std::int64_t{0});
  progress.before = std::accumulate(before.begin(), before.end(), std::int64_t{0});

  std::vector<fs::path> parts;
  for (int r = 0; r < world->size(); ++r) parts.push_back(part(r));
  merge_stores(parts, path);
  for (const fs::path& file : parts) remove_store(file);
  summary.store = path;
  summary.shard = {};
  summary.outcome.complete = std::ranges::find(complete, 0) == complete.end();
  progress.points = plan.sweep().points.value_or(0);
  SweepStore store(path, SweepStore::Access::read);
  summarise(store, *store.find(plan.sweep().digest), summary);
  return report(options, summary, stop);
}

ExitCode sweep(const SweepArguments& options) {
  const Shard shard = shard_of(options.shard);
  const fs::path path = store_of(options, shard);
  const auto began = std::chrono::steady_clock::now();
  const auto plan = plan_of(options, path);
  const std::chrono::duration<double> planning = std::chrono::steady_clock::now() - began;
  if (plan->config().search && (shard.count > 1 || options.mpi))
    throw Failure(ExitCode::usage,
                  "tiersim: error: a search chooses points by what others came to, so it cannot be "
                  "split by --shard or --mpi; its points use -j threads");
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const SweepOptions how{
      .threads = static_cast<std::size_t>(options.threads > 0 ? options.threads : cores),
      .shard = shard,
      .retry_failed = options.retry_failed,
      .fail_fast = options.fail_fast};
  if (options.dry_run) {
    fmt::print("{}", dry_run_text(*plan, how, planning.count(), options.json));
    return ExitCode::ok;
  }
  if (path.has_parent_path() && options.store.empty()) fs::create_directories(path.parent_path());
  expect_writable(path);
  if (options.mpi) return sweep_ranks(options, *plan, how, path);
  const std::atomic<bool>& stop = catch_interruption();
  const SweepSummary summary = run_shard(options, *plan, how, path, stop);
  if (summary.outcome.complete) put_in_order(path);
  return report(options, summary, stop);
}

}  // namespace

void add_sweep(Verb program) {
  auto options = std::make_shared<SweepArguments>();
  Verb verb = program.add("sweep", "Run all points of a design space and store their results");
  verb.option("SPEC", options->spec, "Design space (schema tiersim.sweep/v1)").required();
  verb.option("--set", options->set, "Override a setting of SPEC: a.b=value (repeatable)")
      .type(kSettingType);
  verb.option("-o,--output", options->store,
              "Store of results (SQLite); out/sweeps/SPEC.db by default")
      .check([](const std::string& name) { return name.empty() ? "a name is needed" : ""; })
      .type("DB");
  verb.option("-j,--threads", options->threads, "Number of threads; one for each core by default")
      .between(1, 1024)
      .type("N");
  verb.option("--shard", options->shard,
              "Run part I of N only, which is every N-th point, into a store of its own")
      .type("I/N");
  verb.flag("--resume", options->resume,
            "Run only the points that the store lacks; begin a store if there is none");
  verb.flag("--retry-failed", options->retry_failed, "Also run failed points again");
  const Option fast =
      verb.flag("--fail-fast", options->fail_fast, "Stop at the first point that fails");
  verb.flag("--keep-going", options->keep_going, "Run all points even if some fail (the default)")
      .excludes(fast);
  const Option dry =
      verb.flag("--dry-run", options->dry_run,
                "Print the number of points and an estimate of the time, and run none");
  verb.flag("--mpi", options->mpi,
            "Divide the points among the processes of mpirun and merge their stores at the end")
      .excludes(dry);
  verb.flag("--json", options->json, "Print the summary as JSON");
  verb.on_chosen([options] {
    options->spec = shipped_file(options->spec).string();
    return sweep(*options);
  });
}

}  // namespace tiersim::cli
