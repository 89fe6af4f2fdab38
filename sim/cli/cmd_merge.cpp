// tiersim merge DB... -o DB: combines the stores of shards, or any other stores, into one.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/file_lock.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/store_merge.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct MergeArguments {
  std::vector<std::string> stores;
  std::string output;
  bool json = false;
};

ExitCode merge(const MergeArguments& options) {
  const std::vector<fs::path> parts(options.stores.begin(), options.stores.end());
  const auto sweeps = merge_stores(parts, options.output);
  if (options.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const MergedSweep& sweep : sweeps)
      list.push_back({{"sweep", sweep.sweep.name},
                      {"digest", sweep.sweep.digest},
                      {"points", sweep.sweep.points ? nlohmann::ordered_json(*sweep.sweep.points)
                                                    : nlohmann::ordered_json()},
                      {"done", sweep.done}});
    fmt::print("{}\n", list.dump(2));
  } else {
    for (const MergedSweep& sweep : sweeps)
      fmt::print(
          "{}: {} of {} points\n", printable(sweep.sweep.name), sweep.done,
          sweep.sweep.points ? fmt::to_string(*sweep.sweep.points) : "an unfinished search's");
  }
  for (const MergedSweep& sweep : sweeps)
    if (sweep.sweep.points != sweep.done)
      fmt::print(stderr, "tiersim: points of '{}' are missing; tiersim sweep {} --resume -o {}\n",
                 printable(sweep.sweep.name), printable(shell_word(sweep.sweep.file)),
                 printable(shell_word(options.output)));
  return ExitCode::ok;
}

std::vector<MergedSweep> merge_into(const std::vector<fs::path>& parts, const fs::path& output) {
  std::vector<MergedSweep> out;
  SweepStore store(output, SweepStore::Access::write);
  for (const fs::path& part : parts)
    if (!fs::equivalent(part, output)) store.merge(part);
  for (const StoredSweep& sweep : store.sweeps()) {
    MergedSweep& merged = out.emplace_back();
    merged.sweep = sweep;
    store.done(sweep.sweep, true, [&](std::int64_t) { ++merged.done; });
  }
  return out;
}

}  // namespace

void remove_store(const fs::path& path) {
  std::error_code ignored;  // what is left is in the way of nobody
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(path.string() + end, ignored);
}

std::vector<MergedSweep> merge_stores(const std::vector<fs::path>& parts, const fs::path& output) {
  expect_writable(output);
  for (const fs::path& part : parts)
    if (!SweepStore::is_store(part))
      throw Failure(ExitCode::usage, printable(fmt::format("tiersim: error: '{}' is no store of "
                                                           "`tiersim sweep`",
                                                           part.string())));
  for (const fs::path& part : parts) SweepStore(part, SweepStore::Access::read).expect_whole();
  const FileLock lock(output);
  const bool is_new = fs::file_size(output) == 0;
  std::vector<MergedSweep> out;
  try {
    out = merge_into(parts, output);
  } catch (...) {
    if (is_new) remove_store(output);  // it would look like a merged one
    throw;
  }
  if (!compact(output))
    throw Failure(ExitCode::usage,
                  printable(fmt::format("tiersim: error: another program is reading '{}'; what was "
                                        "merged is in it, but not in order: merge again",
                                        output.string())));
  return out;
}

void add_merge(Verb program) {
  auto options = std::make_shared<MergeArguments>();
  Verb verb = program.add("merge", "Merge the stores of the parts of a sweep");
  verb.option("DB", options->stores, "Stores of `tiersim sweep`").required();
  verb.option("-o,--output", options->output,
              "Store to write; results that it already has are kept")
      .type("DB")
      .required();
  verb.flag("--json", options->json, "Print the contents of the store as JSON");
  verb.on_chosen([options] { return merge(*options); });
}

}  // namespace tiersim::cli
