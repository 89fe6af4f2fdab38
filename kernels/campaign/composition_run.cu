// The stage that measures the sequences of kernels/campaign/composition.hpp.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "kernels/campaign/clock.hpp"
#include "kernels/campaign/composition.hpp"
#include "kernels/campaign/plan.hpp"
#include "kernels/campaign/predictions.hpp"
#include "kernels/campaign/record.hpp"
#include "kernels/campaign/stage_file.hpp"
#include "kernels/campaign/stages.hpp"
#include "kernels/campaign/watchdog.hpp"
#include "kernels/cases/all_cases.hpp"
#include "kernels/runtime/event.cuh"
#include "kernels/runtime/graph.cuh"
#include "kernels/runtime/timer.cuh"

namespace tiersim::kernels::bench {
namespace {

struct Prepared {
  std::shared_ptr<Case> work;
  int sets = 1;
};

// Parts stay prepared while sequences use the same ones, since making the inputs of a part takes
// seconds.
class Workshop {
 public:
  Workshop(const DeviceInfo& device, std::int64_t seed) : device_(device), seed_(seed) {}

  std::vector<Prepared> parts_of(const Sequence& sequence) {
    std::vector<std::string> keys;
    std::map<std::string, int> seen;
    for (const Part& part : sequence.parts) {
      keys.push_back(part.entry.name + "#" + std::to_string(seen[part.entry.name]++));
    }
    for (auto it = ready_.begin(); it != ready_.end();) {
      const bool wanted = std::find(keys.begin(), keys.end(), it->first) != keys.end();
      it = wanted ? std::next(it) : ready_.erase(it);
    }
    std::vector<Prepared> parts;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      Prepared& part = ready_[keys[i]];
      if (part.work == nullptr) part = prepare(sequence.parts[i].entry, sequence.parts.size());
      parts.push_back(part);
    }
    return parts;
  }

 private:
  Prepared prepare(const CaseEntry& entry, std::size_t parts) const {
    std::shared_ptr<Case> work = entry.make();
    const Rotation rotation =
        plan_rotation(touched_bytes(work->work()), std::max<std::int64_t>(1, work->set_bytes()),
                      device_.l2_bytes, device_.memory_bytes / static_cast<std::int64_t>(parts));
    work->prepare(rotation.sets, static_cast<std::uint64_t>(seed_));
    return {std::move(work), rotation.sets};
  }

  const DeviceInfo& device_;
  std::int64_t seed_;
  std::map<std::string, Prepared> ready_;
};

// Enqueues the whole sequence: stream 1 forks from stream 0 at the beginning and joins it at the
// end.
void enqueue(const Sequence& sequence, std::vector<Prepared>& parts, Stream& stream, Stream& beside,
             std::vector<Event>& events) {
  std::vector<int> used(parts.size(), 0);
  events.front().record(stream);
  events.front().hold(beside);
  for (std::size_t i = 0; i < sequence.steps.size(); ++i) {
    const Step& step = sequence.steps[i];
    Stream& on = step.stream == 0 ? stream : beside;
    for (const int before : step.after) events[static_cast<std::size_t>(before) + 2].hold(on);
    Prepared& part = parts[step.part];
    part.work->enqueue(on, used[step.part]++ % part.sets);
    events[i + 2].record(on);
  }
  events[1].record(beside);
  events[1].hold(stream);
}

struct Measured {
  std::vector<double> ns;
  double host_ns = 0;  // of a round
  Clocks before, after;
};

Measured measure_sequence(const Sequence& sequence, std::vector<Prepared>& parts, double budget_s,
                          const SampleLimits& limits) {
  Stream stream;
  Stream beside;
  std::vector<Event> events(sequence.steps.size() + 2);
  Graph graph([&](Stream& s) { enqueue(sequence, parts, s, beside, events); });
  Timer timer;
  const auto once = [&] {
    timer.start(stream);
    graph.replay(stream);
    timer.stop(stream);
    return timer.nanoseconds();
  };
  once();
  const double guess_s = once() * 1e-9;
  const int rounds = std::clamp(static_cast<int>(std::min(1e6, budget_s / std::max(guess_s, 1e-9))),
                                limits.rounds_least, limits.rounds);
  Measured measured;
  measured.before = read_clocks();
  const Clock clock(0);
  for (int round = 0; round < rounds; ++round) measured.ns.push_back(once());
  measured.host_ns = clock.passed() * 1e9 / rounds;
  measured.after = read_clocks();
  return measured;
}

// Medians of the timing and ceilings stages, cold, by name of the case.
std::map<std::string, double> medians_of(const std::filesystem::path& folder) {
  std::map<std::string, std::vector<double>> all;
  for (const char* stage : {"ceilings", "timing"}) {
    const Json document = read_stage(folder, stage);
    if (document.is_null()) continue;
    for (const Json& entry : document.at("benchmarks").array()) {
      if (entry.at("temperature").text() == "cold") {
        all[entry.at("case").text()].push_back(entry.at("real_time").number());
      }
    }
  }
  std::map<std::string, double> medians;
  for (const auto& [name, values] : all) medians[name] = percentile(values, 0.5);
  return medians;
}

Json entry_of(const Sequence& sequence, const std::vector<Prepared>& parts,
              const Measured& measured, const std::map<std::string, double>& medians,
              const Peaks& peaks, const Predictions& predictions) {
  std::vector<std::int64_t> counts(parts.size(), 0);
  for (const Step& step : sequence.steps) ++counts[step.part];
  Peaks hard;
  std::copy_if(peaks.begin(), peaks.end(), std::back_inserter(hard),
               [](const Peak& peak) { return peak.hard; });
  Work work;
  double sum_ns = 0;
  double roofline_ns = 0;
  bool all_timed = true;
  Json used{Json::Array{}};
  std::set<std::string> dtypes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const CaseInfo info = parts[i].work->info();
    const Work once = parts[i].work->work();
    for (std::int64_t n = 0; n < counts[i]; ++n) work = work + once;
    const Timed timed = {sequence.parts[i].entry.name, info.dtype, once, false, 1};
    roofline_ns += static_cast<double>(counts[i]) * floor_of(timed, hard).seconds * 1e9;
    const auto median = medians.find(sequence.parts[i].timed_as);
    all_timed = all_timed && median != medians.end();
    if (median != medians.end()) sum_ns += static_cast<double>(counts[i]) * median->second;
    used.push_back(Json::Object{{"case", sequence.parts[i].entry.name}, {"count", counts[i]}});
    if (once.flops > 0) dtypes.insert(info.dtype);
  }
  Json parameters{Json::Object{}};
  for (const auto& [name, value] : sequence.parameters) parameters.set(name, value);
  Json labels{Json::Array{}};
  for (const std::string& label : sequence.labels) labels.push_back(label);
  Json total = interval_json(measured.ns);
  Json entry = Json::Object{{"name", sequence.name},
                            {"run_name", sequence.name},
                            {"run_type", "iteration"},
                            {"repetitions", 1},
                            {"repetition_index", 0},
                            {"threads", 1},
                            {"iterations", static_cast<std::int64_t>(measured.ns.size())},
                            {"real_time", total.at("median_ns")},
                            {"cpu_time", measured.host_ns},
                            {"time_unit", "ns"},
                            {"experiment", sequence.experiment},
                            {"parameters", std::move(parameters)},
                            {"labels", std::move(labels)},
                            {"work", to_json(work)},
                            {"dtype", dtypes.size() == 1 ? *dtypes.begin() : "mixed"},
                            {"parts", std::move(used)},
                            {"total", std::move(total)},
                            {"sum_of_medians_ns", all_timed ? sum_ns : 0.0},
                            {"roofline_ns", roofline_ns}};
  const auto said = predictions.find(sequence.name);
  if (said != predictions.end()) {
    entry.set("prediction", Json::Object{{"median_ns", said->second.median_ns},
                                         {"low_ns", said->second.low_ns},
                                         {"high_ns", said->second.high_ns}});
  }
  entry.set("clocks_before", to_json(measured.before));
  entry.set("clocks_after", to_json(measured.after));
  return entry;
}

std::vector<Sequence> chosen_sequences(const Options& options, const DeviceInfo& device) {
  const Sizes sizes = device.emulator || options.toy ? Sizes::toy : Sizes::timed;
  std::vector<Sequence> chosen;
  for (Sequence& sequence : compositions(all_cases(sizes), sizes)) {
    if (sequence.name.find(options.filter) == std::string::npos) continue;
    if (options.no_predictions) sequence.labels.emplace_back("no prediction was made before");
    chosen.push_back(std::move(sequence));
  }
  return chosen;
}

}  // namespace

int run_composition(const Options& options, const DeviceInfo& device) {
  const Predictions predictions = read_predictions(options);
  const Clock clock(options.limit_s);
  const Peaks peaks = known_peaks(options, device);
  StageFile file(options.out, make_context(options, device, peaks));
  const std::map<std::string, double> medians = medians_of(options.out);
  const std::vector<Sequence> sequences = chosen_sequences(options, device);
  Workshop workshop(device, options.seed);
  std::size_t left = 0;
  bool missed = false;
  std::size_t to_do = sequences.size();
  for (const Sequence& sequence : sequences) {
    const auto share = static_cast<double>(to_do--);
    if (file.has(sequence.name)) continue;
    if (options.keep_refused && file.refused(sequence.name)) continue;
    if (clock.left() <= 0) {
      ++left;
      continue;
    }
    file.begin(sequence.name);
    const Watchdog watchdog(options.case_limit_s);
    try {
      if (!sequence.missing.empty()) throw std::runtime_error(sequence.missing);
      std::vector<Prepared> parts = workshop.parts_of(sequence);
      const Measured measured =
          measure_sequence(sequence, parts, clock.left() / share, options.limits);
      Json entry = entry_of(sequence, parts, measured, medians, peaks, predictions);
      const std::vector<std::string> impossible = violations(timed_of(entry), peaks);
      if (!impossible.empty()) {
        missed = true;
        throw std::runtime_error(impossible.front());
      }
      say(sequence.name, entry.at("real_time").dump() + " ns");
      file.add(std::move(entry));
    } catch (const std::exception& error) {
      say(sequence.name, error.what());
      file.refuse(sequence.name, error.what());
      if (!device_usable()) return kExitAgain;
    }
  }
  return verdict(file, left, missed);
}

}  // namespace tiersim::kernels::bench
