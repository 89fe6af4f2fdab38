#include "sim/cli/joined_sweep.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/cli/file_lock.hpp"
#include "sim/cli/interruption.hpp"
#include "sim/cli/store_merge.hpp"
#include "sim/sweep/shared_claims.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

// The kernel may release the lock of a killed process's part a moment after that of its slot.
void wait_until_free(const fs::path& part) {
  constexpr std::chrono::milliseconds kPause(20);
  constexpr int kTimes = 250;
  for (int i = 0; i < kTimes; ++i) {
    try {
      const FileLock lock(part);
      return;
    } catch (const Failure&) {  // the run itself says what is wrong for good
      std::this_thread::sleep_for(kPause);
    }
  }
}

// True for all but the first of the processes that mpirun or srun starts.
bool is_later_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name); rank != nullptr)  // NOLINT(concurrency-mt-unsafe)
      return std::string_view(rank) != "0";
  return false;
}

class JoinedSweep {
 public:
  JoinedSweep(const SweepArguments& options, SweepPlan& plan, const SweepOptions& how,
              const fs::path& path)
      : options_(options), plan_(plan), how_(how), path_(path) {}

  ExitCode run();

 private:
  // Unlocks at the end. False if the run is over.
  class Turn {
   public:
    explicit Turn(ClaimsFile& file) : file_(file), has_(file.lock()) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      if (has_) file_.unlock();
    }
    explicit operator bool() const { return has_; }

   private:
    ClaimsFile& file_;
    bool has_;
  };
  enum class Next : std::uint8_t { wait, run, merge, leave, over };

  bool enter();
  void begin_anew();
  void join_others();
  void read_known();
  bool run_slot(std::size_t slot);
  Next next(bool stopped);
  std::vector<fs::path> parts() const;
  void put_together();
  ExitCode report_merged();
  ExitCode report_others() const;

  const SweepArguments& options_;
  SweepPlan& plan_;
  SweepOptions how_;
  const fs::path& path_;
  const std::atomic<bool>& stop_ = catch_interruption();
  Clock::time_point began_ = Clock::now();
  std::unique_ptr<ClaimsFile> claims_;
  std::optional<SweepStore> known_;  // the store as it was before the run
  std::int64_t before_ = 0;          // points in it
  std::int64_t ran_ = 0;             // by this process
  std::size_t slot_ = 0;             // to run
};

// Parts are merged in the order of slots. One may be missing: its process was lost at its start.
std::vector<fs::path> JoinedSweep::parts() const {
  std::vector<fs::path> out;
  for (std::size_t slot = 1;; ++slot) {
    const fs::path part = part_of(path_, slot);
    if (fs::exists(part))
      out.push_back(part);
    else if (slot > claims_->contents().slots.size())
      return out;
  }
}

void JoinedSweep::put_together() {
  known_.reset();
  const std::vector<fs::path> all = parts();
  // Makes a store whole that was killed as it began, or in a transaction.
  for (const fs::path& part : all) SweepStore(part, SweepStore::Access::write);
  if (!all.empty()) merge_stores(all, path_);
  for (const fs::path& part : all) {
    remove_store(part);
    std::error_code ignored;
    fs::remove(part.string() + ".lock", ignored);  // of a killed process
  }
}

void JoinedSweep::read_known() {
  if (!fs::exists(path_)) return;
  known_.emplace(path_, SweepStore::Access::read);
  how_.known = &*known_;
}

// Nobody is at work: whatever is there was left behind.
void JoinedSweep::begin_anew() {
  const std::vector<fs::path> left = parts();
  if (!left.empty() && !options_.resume)
    throw Failure(ExitCode::usage,
                  printable(fmt::format("tiersim: error: '{}' is of a job that did not end; "
                                        "--resume goes on with it, or remove it",
                                        left.front().string())));
  put_together();
  read_known();
  if (known_) adopt_stored(options_, plan_, *known_);
  claims_->begin(plan_.sweep().digest, *plan_.sweep().points);
}

void JoinedSweep::join_others() {
  read_known();
  const std::string& digest = claims_->contents().digest;
  const auto there = known_ ? known_->find(digest) : std::nullopt;
  if (there) plan_.adopt(*there, known_->inputs(there->sweep));
  if (plan_.sweep().digest == digest) return;
  throw Failure(ExitCode::usage,
                printable(fmt::format("tiersim: error: the processes at work on '{}' run another "
                                      "sweep, or read other files than are there now",
                                      path_.string())));
}

// False if all points were there.
bool JoinedSweep::enter() {
  do claims_ = std::make_unique<ClaimsFile>(path_.string() + ".claims");
  while (!claims_->lock());  // removed meanwhile
  try {
    const bool alone = !claims_->anyone();
    if (alone)
      begin_anew();
    else
      join_others();
    if (known_)
      if (const auto there = known_->find(plan_.sweep().digest))
        known_->done(there->sweep, !options_.retry_failed, [&](std::int64_t) { ++before_; });
    const bool complete = before_ == *plan_.sweep().points;
    if (alone && complete)
      claims_->remove();
    else
      slot_ = claims_->join();
    claims_->unlock();
    return !(alone && complete);
  } catch (...) {
    if (claims_->contents().slots.empty()) claims_->remove();
    throw;
  }
}

// False if it was stopped before its end.
bool JoinedSweep::run_slot(std::size_t slot) {
  SharedClaims claims(*claims_, slot, how_.threads);
  SweepOptions how = how_;
  how.claims = &claims;
  SweepArguments options = options_;
  options.resume = true;  // a lost part
  const SweepSummary summary = run_shard(options, plan_, how, part_of(path_, slot), stop_,
                                         [&] { return claims.of_others(); });
  const SweepProgress& progress = summary.outcome.progress;
  ran_ += progress.finished - progress.before;
  if (!summary.outcome.complete) return false;
  const Turn turn(*claims_);
  if (turn && !claims_->contents().ending) claims_->finish(slot);
  return true;
}

// In the turn of this process, except for Next::over.
JoinedSweep::Next JoinedSweep::next(bool stopped) {
  if (stopped && !stop_ && !claims_->contents().ending) claims_->end();  // --fail-fast
  if (stopped || stop_ || claims_->contents().ending)
    return claims_->anyone() ? Next::leave : Next::merge;
  const std::optional<std::size_t> lost = claims_->take_lost();
  if (lost) slot_ = *lost;
  if (lost) return Next::run;
  return claims_->all_done() ? Next::merge : Next::wait;
}

ExitCode JoinedSweep::report_merged() {
  SweepSummary summary{.store = path_};
  SweepStore store(path_, SweepStore::Access::read);
  const auto sweep = store.find(plan_.sweep().digest);
  SweepProgress& progress = summary.outcome.progress;
  progress.points = *plan_.sweep().points;
  progress.before = before_;
  if (sweep) store.done(sweep->sweep, true, [&](std::int64_t) { ++progress.finished; });
  summary.outcome.complete = progress.finished == progress.points;
  summary.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  if (sweep) summarise(store, *sweep, summary);
  return report(options_, summary, stop_);
}

ExitCode JoinedSweep::report_others() const {
  fmt::print(stderr, "tiersim: this process ran {} points; another one puts all together\n", ran_);
  return stop_ ? ExitCode::interrupted : ExitCode::ok;
}

ExitCode JoinedSweep::run() {
  if (!enter()) return is_later_rank() ? ExitCode::ok : report_merged();
  bool stopped = !run_slot(slot_);
  constexpr std::chrono::milliseconds kFirst(20);
  constexpr std::chrono::milliseconds kLongest(1000);
  for (auto pause = kFirst;; pause = std::min(pause * 3 / 2, kLongest)) {
    Next what = Next::over;
    {
      const Turn turn(*claims_);
      if (turn) what = next(stopped);
      if (what == Next::leave) claims_->leave();
      if (what == Next::merge) {
        put_together();
        claims_->remove();
      }
    }
    if (what == Next::merge) {
      fmt::print(stderr, "tiersim: this process ran {} points and put all together\n", ran_);
      return report_merged();
    }
    if (what == Next::over || what == Next::leave) return report_others();
    if (what == Next::wait) std::this_thread::sleep_for(pause);
    if (what != Next::run) continue;
    pause = kFirst;
    fmt::print(stderr, "tiersim: this process takes over the points of one that was lost\n");
    wait_until_free(part_of(path_, slot_));
    stopped = !run_slot(slot_);
  }
}

}  // namespace

fs::path part_of(const fs::path& store, std::size_t slot) {
  return fs::path(store.string() + fmt::format(".part{}", slot));
}

ExitCode sweep_jointly(const SweepArguments& options, SweepPlan& plan, const SweepOptions& how,
                       const fs::path& path) {
  return JoinedSweep(options, plan, how, path).run();
}

}  // namespace tiersim::cli
