#include "hwmodels/calibrate/fit/predictions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// Names of the peaks that concurrent kernels share; "flops" is that of their operand type.
constexpr std::array<const char*, 4> kShared{"memory", "link_read", "link_write", "flops"};

double highest_peak(const TimingSet& set, const std::string& name, bool hard) {
  double most = 0;
  for (const TimingPeak& peak : set.peaks)
    if (peak.name == name && peak.hard == hard) most = std::max(most, peak.value);
  return most;
}

// The largest value that any fit has for this peak; 0 where none has one.
double fitted_peak(const Calibration& calibration, const std::string& name) {
  double most = 0;
  for (const KernelFit& fit : calibration.fits) {
    if (name == "memory" && fit.regime == Regime::memory && fit.has_bandwidth)
      most = std::max(most, fit.best.bandwidth);
    if (name == "flops." + fit.dtype && fit.has_peak) most = std::max(most, fit.best.peak);
  }
  return most;
}

// The measured ceiling; else the highest rate of the fitted kernels; else the data sheet's; 0 where
// there is none.
double shared_peak(const TimingSet& set, const Calibration& calibration, const std::string& name) {
  if (const double measured = highest_peak(set, name, false); measured > 0) return measured;
  if (const double fitted = fitted_peak(calibration, name); fitted > 0) return fitted;
  return highest_peak(set, name, true);
}

std::vector<double> shares_of(const TimingCase& kernel, double seconds, const TimingSet& set,
                              const Calibration& calibration) {
  const std::array<double, 4> amounts{kernel.work.memory_bytes, kernel.work.link_read_bytes,
                                      kernel.work.link_write_bytes, kernel.work.flops};
  std::vector<double> shares;
  for (std::size_t i = 0; i < kShared.size(); ++i) {
    const std::string name = i == 3 ? "flops." + kernel.dtype : kShared[i];
    const double peak = shared_peak(set, calibration, name);
    shares.push_back(peak > 0 ? std::min(1.0, amounts[i] / (peak * seconds)) : 0);
  }
  return shares;
}

const KernelFit* fit_of(const Calibration& calibration, const std::string& name, Regime regime) {
  for (const KernelFit& fit : calibration.fits)
    if (fit.kernel == name && fit.regime == regime) return &fit;
  return nullptr;
}

// A part of a sequence with its time when run alone.
struct TimedPart {
  std::string name;
  TimingCase kernel;
  Estimate time;
};

class Predictor {
 public:
  Predictor(const TimingSet& set, const Calibration& calibration, SequencePredictions& out)
      : set_(set), calibration_(calibration), out_(out) {}

  void predict_sequence(const PlannedSequence& sequence) {
    if (!sequence.missing.empty()) {
      out_.left_out.push_back({sequence.name, sequence.missing});
      return;
    }
    std::vector<TimedPart> parts;
    for (const PlannedPart& part : sequence.parts) {
      auto timed = timed_part(part);
      if (!timed) {
        out_.left_out.push_back({sequence.name, part.kernel.name + " has neither fit nor timing"});
        return;
      }
      parts.push_back(*std::move(timed));
    }
    out_.times.cases.push_back({sequence.name, estimate(sequence, parts)});
  }

 private:
  std::optional<TimedPart> timed_part(const PlannedPart& part) {
    TimedPart out{.name = part.kernel.name, .kernel = part.kernel, .time = {}};
    const auto timed = std::ranges::find_if(set_.cases, [&](const TimingCase& timing) {
      return timing.temperature == Temperature::cold && case_name(timing) == part.timed_as;
    });
    if (timed != set_.cases.end()) out.kernel = *timed;
    const auto regime = regime_of(out.kernel, set_.l2_bytes);
    TS_ENSURES(regime.has_value(), out.name);  // every cold case has one
    if (const KernelFit* fit = fit_of(calibration_, fit_name(out.kernel), *regime)) {
      out.time = predict(*fit, point_of(out.kernel, *regime));
      return out;
    }
    if (timed == set_.cases.end()) return std::nullopt;
    const double noise = timed->seconds * timed->repeat_noise;
    out.time = {timed->seconds, std::min(timed->low, timed->seconds - noise),
                std::max(timed->high, timed->seconds + noise)};
    const std::string note = out.name + " stands for itself: its kernel has no fit";
    if (std::ranges::find(out_.notes, note) == out_.notes.end()) out_.notes.push_back(note);
    return out;
  }

  // Time of the sequence with these times of its parts; the shared peaks are loaded as at their
  // best times.
  enum class Sharing { peaks, none };
  double total(const PlannedSequence& sequence, const std::vector<TimedPart>& parts,
               const std::vector<double>& seconds, Sharing sharing) const {
    std::vector<ScheduledStep> steps;
    for (const PlannedStep& step : sequence.steps) {
      const TimedPart& part = parts[step.part];
      steps.push_back({.seconds = seconds[step.part],
                       .shares = sharing == Sharing::none
                                     ? std::vector<double>(kShared.size(), 0)
                                     : shares_of(part.kernel, part.time.value, set_, calibration_),
                       .stream = step.stream,
                       .after = step.after});
    }
    return schedule(steps);
  }

  Estimate estimate(const PlannedSequence& sequence, const std::vector<TimedPart>& parts) const {
    std::vector<double> best;
    for (const TimedPart& part : parts) best.push_back(part.time.value);
    const double value = total(sequence, parts, best, Sharing::peaks);
    // All instances of a case have the same error.
    std::map<std::string, std::vector<std::size_t>> of_case;
    for (std::size_t i = 0; i < parts.size(); ++i) of_case[parts[i].name].push_back(i);
    double below = 0;
    double above = 0;
    const auto add = [](double& sum, double distance) { sum += distance * distance; };
    for (const auto& [name, members] : of_case) {
      std::vector<double> low = best;
      std::vector<double> high = best;
      for (const std::size_t i : members) {
        low[i] = parts[i].time.low;
        high[i] = parts[i].time.high;
      }
      add(below, value - total(sequence, parts, low, Sharing::peaks));
      add(above, total(sequence, parts, high, Sharing::peaks) - value);
    }
    double chain = 0;
    for (const PlannedStep& step : sequence.steps) chain += best[step.part];
    add(below, value - total(sequence, parts, best, Sharing::none));
    add(above, std::max(0.0, chain - value));
    // Keeps the lower end above 0.
    return {value, std::max(value - std::sqrt(below), value * 1e-3), value + std::sqrt(above)};
  }

  const TimingSet& set_;
  const Calibration& calibration_;
  SequencePredictions& out_;
};

// The remaining share of a step.
struct Progress {
  const ScheduledStep* step = nullptr;
  double left = 1;
  bool done = false;
};

bool is_ready(const std::vector<Progress>& all, std::size_t number) {
  return std::ranges::all_of(all[number].step->after,
                             [&](std::size_t before) { return all[before].done; });
}

// The next step of each stream that is ready to run; at least one, as steps wait for earlier ones
// only.
std::vector<std::size_t> running(const std::vector<Progress>& all) {
  std::vector<std::size_t> out;
  std::vector<std::size_t> streams;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].done || std::ranges::count(streams, all[i].step->stream) != 0) continue;
    streams.push_back(all[i].step->stream);
    if (is_ready(all, i)) out.push_back(i);
  }
  return out;
}

// Factor by which the running steps take longer than alone.
double slowdown(const std::vector<Progress>& all, const std::vector<std::size_t>& now) {
  double most = 1;
  for (std::size_t peak = 0; peak < all[now.front()].step->shares.size(); ++peak) {
    double sum = 0;
    for (const std::size_t i : now) sum += all[i].step->shares[peak];
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

double schedule(const std::vector<ScheduledStep>& steps) {
  std::vector<Progress> all;
  all.reserve(steps.size());
  for (const ScheduledStep& step : steps) {
    TS_EXPECTS(step.seconds > 0, step.seconds);
    all.push_back({.step = &step});
  }
  double clock = 0;
  for (std::size_t ended = 0; ended < steps.size();) {
    const std::vector<std::size_t> now = running(all);
    TS_INVARIANT(!now.empty());
    const double slow = slowdown(all, now);
    const auto time_left = [&](std::size_t i) { return all[i].left * all[i].step->seconds; };
    const std::size_t next = *std::ranges::min_element(now, {}, time_left);
    const double passed = time_left(next);  // in time of a kernel alone
    clock += passed * slow;
    for (const std::size_t i : now) {
      // Steps that end with the first one end now; no rounding error is left over.
      all[i].done = time_left(i) <= passed;
      all[i].left -= passed / all[i].step->seconds;
      if (all[i].done) ++ended;
    }
  }
  return clock;
}

SequencePredictions predict_sequences(const CompositionPlan& plan, const TimingSet& set,
                                      const Calibration& calibration) {
  SequencePredictions out;
  out.times.build_id = plan.build_id;
  Predictor predictor(set, calibration, out);
  for (const PlannedSequence& sequence : plan.sequences) predictor.predict_sequence(sequence);
  return out;
}

std::string to_json(const PredictedTimes& predicted) {
  const auto ns = [](double seconds) {
    return nlohmann::ordered_json::parse(fmt::format("{:.6g}", seconds * 1e9));
  };
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const PredictedTimes::Case& each : predicted.cases)
    all.push_back({{"name", each.name},
                   {"median_ns", ns(each.time.value)},
                   {"low_ns", ns(each.time.low)},
                   {"high_ns", ns(each.time.high)}});
  const nlohmann::ordered_json document = {{"schema", "tiersim.predictions/v1"},
                                           {"build_id", predicted.build_id},
                                           {"date", predicted.date},
                                           {"predictions", std::move(all)}};
  return document.dump(1) + '\n';
}

}  // namespace tiersim
