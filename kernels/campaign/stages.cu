#include "kernels/campaign/stages.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <thread>

#include "kernels/campaign/ceiling_peaks.hpp"
#include "kernels/campaign/clock.hpp"
#include "kernels/campaign/measure.hpp"
#include "kernels/campaign/probe_lines.hpp"
#include "kernels/campaign/stage_file.hpp"
#include "kernels/campaign/watchdog.hpp"
#include "kernels/cases/all_cases.hpp"
#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels::bench {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text = {};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string host_name() {
  std::array<char, 256> text = {};
  return gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "unknown";
}

Sizes sizes_of(const Options& options, const DeviceInfo& device) {
  return device.emulator || options.toy ? Sizes::toy : Sizes::timed;
}

CaseList chosen_cases(const Options& options, const DeviceInfo& device) {
  const bool ceilings = options.stage.starts_with("ceilings");
  CaseList chosen;
  for (CaseEntry& entry : all_cases(sizes_of(options, device))) {
    const bool is_ceiling = entry.name.starts_with("ceiling.");
    if (options.stage != "correctness" && is_ceiling != ceilings) continue;
    if (entry.name.find(options.filter) == std::string::npos) continue;
    chosen.push_back(std::move(entry));
  }
  return chosen;
}

// Launches a case once. The result is computed by another thread where the policy says so, since
// on a card the float64 reference takes far longer than the kernel.
std::future<Json> check_case(const CaseEntry& entry, std::shared_ptr<Case> work, std::int64_t seed,
                             std::launch policy) {
  const Clock clock(0);
  work->prepare(1, static_cast<std::uint64_t>(seed));
  Stream stream;
  work->enqueue(stream, 0);
  stream.synchronize();
  return std::async(policy, [name = entry.name, work = std::move(work), clock] {
    Agreement agreement = work->check(0);
    const bool holds = agreement.holds();
    // JSON has no NaN
    if (!(agreement.error >= 0 && agreement.error < 1e300)) agreement.error = 1e300;
    return Json(Json::Object{{"name", name},
                             {"status", holds ? "agrees" : "disagrees"},
                             {"agreement", to_json(agreement)},
                             {"seconds", clock.passed()}});
  });
}

// The checks under way, oldest first.
class Checks {
 public:
  // Lets the sets of at most this many bytes, and this many cases, be under way at once. A check
  // that takes longer than the limit ends the process, as a kernel does (Watchdog).
  Checks(StageFile& file, std::int64_t most_bytes, std::size_t most, double limit_s)
      : file_(file), most_bytes_(most_bytes), most_(most), limit_s_(limit_s) {}

  void add(const std::string& name, std::int64_t bytes, std::future<Json> result) {
    running_.push_back({name, bytes, std::move(result)});
    bytes_ += bytes;
  }
  // Waits until a case of so many bytes may begin.
  void make_room(std::int64_t bytes) {
    while (!running_.empty() && (running_.size() >= most_ || bytes_ + bytes > most_bytes_)) take();
  }
  void finish() {
    while (!running_.empty()) take();
  }
  bool missed() const { return missed_; }

 private:
  struct Running {
    std::string name;
    std::int64_t bytes;
    std::future<Json> result;
  };

  void take() {
    Running oldest = std::move(running_.front());
    running_.pop_front();
    bytes_ -= oldest.bytes;
    file_.begin(oldest.name);
    const Watchdog watchdog(limit_s_);
    try {
      Json result = oldest.result.get();
      const bool agrees = result.at("status").text() == "agrees";
      say(oldest.name, (agrees ? "agrees, " : "DISAGREES, ") + result.at("agreement").dump());
      missed_ = missed_ || !agrees;
      file_.add(std::move(result));
    } catch (const std::exception& error) {
      say(oldest.name, error.what());
      file_.refuse(oldest.name, error.what());
    }
  }

  StageFile& file_;
  std::int64_t most_bytes_;
  std::size_t most_;
  double limit_s_;
  std::deque<Running> running_;
  std::int64_t bytes_ = 0;
  bool missed_ = false;
};

constexpr double kLeastBudget = 0.01;  // s of a case's rounds

// Time of the rounds of a timing.
double sampled_s(const Timing& timing) {
  return timing.points.empty()
             ? 0
             : timing.host_ns * 1e-9 * static_cast<double>(timing.points.front().ns.size());
}

struct Job {
  const CaseEntry* entry = nullptr;
  bool warm = false;
  std::string name;  // of the result of the case
};

std::vector<Job> jobs_of(const CaseList& cases, const Options& options) {
  std::vector<Job> jobs;
  for (const CaseEntry& entry : cases) {
    jobs.push_back({&entry, false, entry_name(entry.name, "cold", options.process)});
    if (entry.warm_too) {
      jobs.push_back({&entry, true, entry_name(entry.name, "warm", options.process)});
    }
  }
  return jobs;
}

std::vector<bool> held_out(const CaseList& cases) {
  std::vector<Held> sizes;
  for (const CaseEntry& entry : cases) {
    const std::unique_ptr<Case> work = entry.make();
    const CaseInfo info = work->info();
    const Work w = work->work();
    const std::int64_t bytes =
        w.read_bytes + w.written_bytes + w.link_read_bytes + w.link_written_bytes;
    sizes.push_back({info.kernel + "." + info.variant, bytes, w.flops, entry.name});
  }
  return hold_out(sizes);
}

// The agreement that the correctness stage found for a case; throws where there is none that holds.
Agreement shown_agreement(const Json& checks, const std::string& name) {
  if (!checks.is_null()) {
    for (const Json& check : checks.at("benchmarks").array()) {
      if (check.at("name").text() != name) continue;
      if (check.at("status").text() != "agrees") break;
      const Json& a = check.at("agreement");
      return {a.at("error").number(), a.at("tolerance").number(), a.at("compared").integer()};
    }
  }
  throw std::runtime_error("not timed: the correctness stage has not shown it right");
}

}  // namespace

void say(const std::string& name, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", name.c_str(), what.c_str());
}

int verdict(StageFile& file, std::size_t left, bool missed) {
  file.finish();
  if (left > 0) {
    std::fprintf(stderr, "%zu left for want of time: run the stage again\n", left);
  }
  if (missed) return kExitMissed;
  return left > 0 || file.refusals() > 0 ? kExitSomeFailed : kExitDone;
}

Json make_context(const Options& options, const DeviceInfo& device, const Peaks& peaks) {
  const Sizes sizes = sizes_of(options, device);
  const bool measured = !device.emulator && sizes == Sizes::timed;
  return Json::Object{
      {"date", utc_now()},
      {"host_name", host_name()},
      {"executable", "kernels/campaign.sh"},
      {"num_cpus", static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()))},
      {"library_build_type", "release"},
      {"stage", options.stage},
      {"class", measured ? "measured" : "none"},
      {"sizes", sizes == Sizes::toy ? "toy" : "timed"},
      {"seed", options.seed},
      {"build", Json::Object{{"commit", options.commit},
                             {"id", options.build_id},
                             {"compiler", options.compiler},
                             {"nvcc", options.nvcc}}},
      {"device", Json::Object{{"kind", device.emulator ? "emulator" : "cuda"},
                              {"name", device.name},
                              {"compute_capability", device.compute_capability},
                              {"multiprocessors", device.multiprocessors},
                              {"l2_bytes", device.l2_bytes},
                              {"memory_bytes", device.memory_bytes},
                              {"driver", device.driver},
                              {"runtime", device.runtime},
                              {"pcie_generation", device.pcie_generation},
                              {"pcie_width", device.pcie_width},
                              {"sm_mhz_max", device.sm_mhz_max},
                              {"memory_mhz_max", device.memory_mhz_max}}},
      {"peaks", to_json(peaks)}};
}

Peaks known_peaks(const Options& options, const DeviceInfo& device) {
  Peaks peaks = datasheet_peaks(device.emulator ? "H200" : device.name, device.pcie_generation,
                                device.pcie_width, device.memory_bytes_per_s);
  if (options.stage.starts_with("ceilings")) return peaks;
  for (Peak& peak : measured_ceilings(read_stage(options.out, "ceilings"))) {
    if (device.emulator) peak.number_class = "assumed";  // the emulator measures nothing
    peaks.push_back(std::move(peak));
  }
  return peaks;
}

int run_conformance(const Options& options, const DeviceInfo& device) {
  std::ifstream in(options.lines);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw UsageError("cannot read --lines " + options.lines.string());
  // It takes seconds, so all of it is repeated
  std::filesystem::remove(options.out / "conformance.json");
  StageFile file(options.out, make_context(options, device, {}));
  bool missed = false;
  ProbeLines lines = read_probe_lines(text.str());
  for (const auto& [name, reason] : lines.refusals) file.refuse(name, reason);
  for (Json& entry : lines.entries) {
    missed = missed || entry.at("status").text() != "agrees";
    file.add(std::move(entry));
  }
  return verdict(file, lines.entries.empty() ? 1 : 0, missed);
}

int run_correctness(const Options& options, const DeviceInfo& device) {
  const Clock clock(options.limit_s);
  StageFile file(options.out, make_context(options, device, {}));
  const auto threads = static_cast<std::size_t>(std::max(2U, std::thread::hardware_concurrency()));
  const std::launch policy = device.emulator ? std::launch::deferred : std::launch::async;
  Checks checks(file, device.memory_bytes / 2, device.emulator ? 1 : threads - 1,
                options.case_limit_s);
  std::size_t left = 0;
  bool missed = false;
  for (const CaseEntry& entry : chosen_cases(options, device)) {
    if (const Json* done = file.find(entry.name)) {
      missed = missed || done->at("status").text() != "agrees";
      continue;
    }
    if (options.keep_refused && file.refused(entry.name)) continue;
    if (clock.left() <= 0) {
      ++left;
      continue;
    }
    std::shared_ptr<Case> work = entry.make();
    const std::int64_t bytes = work->set_bytes();
    checks.make_room(bytes);
    file.begin(entry.name);
    const Watchdog watchdog(options.case_limit_s);
    try {
      checks.add(entry.name, bytes, check_case(entry, std::move(work), options.seed, policy));
    } catch (const std::exception& error) {
      say(entry.name, error.what());
      file.refuse(entry.name, error.what());
      if (!device_usable()) return kExitAgain;  // checks under way are repeated
    }
    if (device.emulator) checks.finish();
  }
  checks.finish();
  return verdict(file, left, missed || checks.missed());
}

int run_timings(const Options& options, const DeviceInfo& device) {
  const Clock clock(options.limit_s);
  const Peaks peaks = known_peaks(options, device);
  StageFile file(options.out, make_context(options, device, peaks));
  const Json checks = read_stage(options.out, "correctness");
  const CaseList cases = chosen_cases(options, device);
  const std::vector<bool> held = held_out(cases);
  std::vector<Job> jobs;
  for (Job& job : jobs_of(cases, options)) {
    const bool refused = options.keep_refused && file.refused(job.name);
    if (!refused && !file.has(job.name)) jobs.push_back(std::move(job));
  }
  const std::vector<int> order =
      shuffled(static_cast<int>(jobs.size()),
               static_cast<std::uint64_t>(options.seed + 1000 * options.process));
  std::size_t left = jobs.size();
  double beside_all_s = 0;
  int done = 0;
  bool missed = false;
  for (const int which : order) {
    const Job& job = jobs[static_cast<std::size_t>(which)];
    if (clock.left() <= 0) break;
    file.begin(job.name);
    const Watchdog watchdog(options.case_limit_s);
    try {
      const Agreement agreement = shown_agreement(checks, job.entry->name);
      MeasureOptions how;
      how.warm = job.warm;
      // The time of a case beside its rounds (mostly inputs) is not part of its budget.
      const double beside_s = done > 0 ? beside_all_s / done : 0;
      how.budget_s = std::max(kLeastBudget, clock.left() / static_cast<double>(left) - beside_s);
      const double began_s = clock.passed();
      how.seed = options.seed;
      how.process = options.process;
      how.processes = options.processes;
      how.limits = options.limits;
      Timing timing = measure(*job.entry, device, how);
      beside_all_s += clock.passed() - began_s - sampled_s(timing);
      ++done;
      timing.agreement = agreement;
      timing.held_out = held[static_cast<std::size_t>(job.entry - cases.data())];
      Json entry = to_json(timing);
      const std::vector<std::string> impossible = violations(timed_of(entry), peaks);
      if (impossible.empty()) {
        say(job.name, entry.at("real_time").dump() + " ns");
        file.add(std::move(entry));
      } else {
        missed = true;
        say(job.name, "REFUSED: " + impossible.front());
        file.refuse(job.name, impossible.front());
      }
    } catch (const std::exception& error) {
      say(job.name, error.what());
      file.refuse(job.name, error.what());
      if (!device_usable()) return kExitAgain;
    }
    --left;
  }
  return verdict(file, left, missed);
}

}  // namespace tiersim::kernels::bench
