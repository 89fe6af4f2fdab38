// tiersim sweep SPEC: runs the points of a design space into a store. A later run of the same SPEC,
// another shard or another sweep adds to the store.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/file_lock.hpp"
#include "sim/cli/interruption.hpp"
#include "sim/cli/joined_sweep.hpp"
#include "sim/cli/sweep_steps.hpp"
#include "sim/cli/sweep_text.hpp"
#include "sim/runner/load.hpp"
#include "sim/runner/shipped_file.hpp"
#include "sim/sweep/sweep_plan.hpp"
#include "sim/sweep/sweep_run.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

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

// --resume needs only SPEC, since the store has the other files.
std::unique_ptr<SweepPlan> plan_of(const SweepArguments& options, const fs::path& path) {
  Diagnostics diagnostics;
  const LoadOptions files = standard_options(options.set);
  auto plan = SweepPlan::make(options.spec, files, diagnostics);
  // Processes that were all killed leave only parts.
  const fs::path there = options.joined && !fs::exists(path) ? part_of(path, 1) : path;
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

void put_in_order(const fs::path& path) {
  if (!fs::exists(path)) throw moved_away(path);
  const FileLock lock(path);
  if (!compact(path))
    fmt::print(stderr,
               "tiersim: all points are there, but another program is reading the store: its rows "
               "stay in the order in which they came (--resume puts them in order)\n");
}

ExitCode sweep(const SweepArguments& options) {
  const Shard shard = shard_of(options.shard);
  const fs::path path = store_of(options, shard);
  const auto began = std::chrono::steady_clock::now();
  const auto plan = plan_of(options, path);
  const std::chrono::duration<double> planning = std::chrono::steady_clock::now() - began;
  if (plan->config().search && (shard.count > 1 || options.joined))
    throw Failure(ExitCode::usage,
                  "tiersim: error: a search chooses points by what others came to, so it cannot be "
                  "split by --shard or --join; its points use -j threads");
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
  if (options.joined) return sweep_jointly(options, *plan, how, path);
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
  const Option shard =
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
  verb.flag("--join,--mpi", options->joined,
            "Share the points with all processes that run this line, on any machine with this "
            "folder; they take over what a lost one leaves, and the last one merges")
      .excludes(dry)
      .excludes(shard);
  verb.flag("--json", options->json, "Print the summary as JSON");
  verb.on_chosen([options] {
    options->spec = shipped_file(options->spec).string();
    return sweep(*options);
  });
}

}  // namespace tiersim::cli
