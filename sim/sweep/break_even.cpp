#include "sim/sweep/break_even.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/base_units.hpp"
#include "sim/config/resample.hpp"
#include "sim/runner/runnable.hpp"
#include "sim/runner/solve.hpp"
#include "sim/step/repeated_step.hpp"
#include "sim/step/resampled.hpp"
#include "sim/sweep/crossing.hpp"
#include "sim/sweep/point_reader.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kMostReferences = 16;

// A scenario in memory whose numbers can be drawn and whose setting can take values.
class VariedScenario {
 public:
  // `option` is the setting at some value, "what_if.far_bandwidth=2"; empty for a scenario without.
  VariedScenario(const PointLoader& loader, Point point, const std::string& key,
                 const std::string& option) {
    if (!option.empty()) point.set.push_back(option);
    Diagnostics diagnostics;
    Document document = loader.load(point, diagnostics);
    config_ = read<ScenarioConfig>(document, "scenario", diagnostics);
    if (!diagnostics.ok()) {
      problem_ = diagnostics.text();
      return;
    }
    root_ = std::move(document).take_root();
    if (option.empty()) return;
    number_ = scalar_at(root_, key);
    if (number_ == nullptr) number_ = scalar_at(root_, key + ".value");
    changed_.add(key);
    if (number_ == nullptr) problem_ = key + " has no value";
  }
  VariedScenario(const VariedScenario&) = delete;
  VariedScenario& operator=(const VariedScenario&) = delete;

  const std::string& problem() const { return problem_; }
  ScenarioConfig& config() { return config_; }

  // Forgets what runs of one draw had in common.
  void begin_draw() { step_.emplace(changed_); }

  // The metric at a value of the setting; of the file's value where `text` is empty.
  Expected<double> metric(const std::string& name, const std::string& text) {
    if (number_ != nullptr && !text.empty()) {
      number_->scalar = text;
      if (!read_again(root_, changed_, config_)) return Unexpected("the setting cannot be " + text);
    }
    if (!step_) begin_draw();
    const auto record = step_->record(config_, Evaluation::times, Results::metrics);
    if (!record) return Unexpected(record.error());
    const auto found = record->metrics.find(name);
    if (found == record->metrics.end()) return Unexpected("its record has no " + name);
    class_ = found->second.number_class;
    return found->second.value;
  }
  NumberClass number_class() const { return class_; }

  // Paths of the uncertain numbers that move results.
  Expected<std::unordered_set<std::string>> uncertain() const {
    const auto run = simulate(config_, Evaluation::times, Provenance::full);
    if (!run) return Unexpected(run.error());
    return uncertain_paths(run->record);
  }

 private:
  ScenarioConfig config_;
  Node root_;
  Node* number_ = nullptr;
  ChangedKeys changed_;
  std::string problem_;
  std::optional<RepeatedStep> step_;
  NumberClass class_ = NumberClass::measured;
};

// Of the channels that what_if.far_bandwidth scales, name and capacity of the one that is busy for
// longest at a factor of 1; nothing if the step uses none.
std::optional<std::pair<std::string, double>> busiest_scaled(ScenarioConfig& config) {
  const double before = config.what_if.far_bandwidth;
  config.what_if.far_bandwidth = 2;
  const System two = build_system(config);
  config.what_if.far_bandwidth = 1;
  const auto run = simulate(config, Evaluation::accounting, Provenance::classes);
  config.what_if.far_bandwidth = before;
  if (!run) return std::nullopt;
  std::optional<std::pair<std::string, double>> out;
  double longest = 0;
  for (std::size_t c = 0; c < two.channels().size(); ++c) {
    const SystemChannel& channel = run->system->channels()[c];
    const auto moved = run->record.channel_bytes.find(channel.name);
    if (channel.capacity == two.channels()[c].capacity || moved == run->record.channel_bytes.end())
      continue;
    const double capacity = metric_units(channel.capacity);
    const double busy = static_cast<double>(moved->second) / capacity;
    if (busy <= longest) continue;
    longest = busy;
    out = std::pair(channel.name, capacity);
  }
  return out;
}

// One search: the point over its reference, as the setting moves.
class GainSearch {
 public:
  GainSearch(VariedScenario& point, const BreakEvenQuestion& question, double target)
      : point_(point), question_(question), target_(target) {}

  // Above 0 where the point is better: the logarithm of its metric over the target, which is close
  // to a straight line over the logarithm of a bandwidth.
  Expected<double> gain(double x) {
    const auto metric = point_.metric(question_.metric(), question_.range().text(x));
    if (!metric) return Unexpected(metric.error());
    const double sign = question_.sense() == Sense::maximize ? 1 : -1;
    const double gain =
        sign * (*metric > 0 && target_ > 0 ? portable_log(*metric / target_) : *metric - target_);
    samples_.emplace_back(x, gain);
    return gain;
  }

  const std::vector<std::pair<double, double>>& samples() const { return samples_; }

 private:
  VariedScenario& point_;
  const BreakEvenQuestion& question_;
  double target_;
  std::vector<std::pair<double, double>> samples_;
};

// The change of the gain with the coordinate, by the samples nearest to x.
double slope_at(std::vector<std::pair<double, double>> samples, double x,
                const SearchScale& scale) {
  const double u = scale.coordinate(x);
  std::ranges::stable_sort(samples, {}, [&](const auto& sample) {
    return std::abs(scale.coordinate(sample.first) - u);
  });
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const double du = scale.coordinate(samples[i].first) - scale.coordinate(samples[0].first);
    const double dy = samples[i].second - samples[0].second;
    if (std::abs(du) > scale.tolerance() && dy != 0) return dy / du;
  }
  return 0;
}

}  // namespace

// The metric of a reference at its best numbers and at each draw.
struct BreakEvenSolver::Drawn {
  Point point = {};
  std::int64_t asked = 0;    // draws, by the point that asks; 0: none
  std::int64_t seed = 0;     // of them
  std::string problem = {};  // reason why it does not run
  bool fits = true;          // false where the hardware is too small for it
  double metric = 0;
  NumberClass number_class = NumberClass::measured;
  std::vector<double> draws = {};
};

BreakEvenSolver::BreakEvenSolver(const PointLoader& loader, const BreakEvenQuestion& question,
                                 SweepReading reading)
    : loader_(loader), question_(question), draws_(reading == SweepReading::all) {}
BreakEvenSolver::~BreakEvenSolver() = default;

const BreakEvenSolver::Drawn& BreakEvenSolver::reference(const Point& point, std::int64_t draws,
                                                         std::int64_t seed) {
  const auto known = std::ranges::find_if(references_, [&](const auto& one) {
    return one->point == point && one->asked == draws && one->seed == seed;
  });
  if (known != references_.end()) {
    std::rotate(references_.begin(), known, known + 1);
    return *references_.front();
  }
  auto out = std::make_unique<Drawn>(Drawn{.point = point, .asked = draws, .seed = seed});
  VariedScenario scenario(loader_, point, "", "");
  const auto run = [&] {
    if (!(out->problem = scenario.problem()).empty()) return;
    const auto best = scenario.metric(question_.metric(), "");
    if (!best) {
      out->problem = best.error();
      out->fits = false;
      return;
    }
    out->metric = *best;
    out->number_class = scenario.number_class();
    if (draws == 0) return;
    const auto uncertain = scenario.uncertain();
    Resampler resampler(scenario.config(), draws, seed,
                        [&](const std::string& path) { return uncertain->contains(path); });
    for (std::size_t i = 0; i < resampler.draws() && out->problem.empty(); ++i) {
      out->problem = resampler.draw(i);
      scenario.begin_draw();
      if (!out->problem.empty()) continue;
      const auto drawn = scenario.metric(question_.metric(), "");
      drawn ? out->draws.push_back(*drawn) : void(out->problem = drawn.error());
    }
  };
  run();
  references_.insert(references_.begin(), std::move(out));
  if (references_.size() > kMostReferences) references_.pop_back();
  return *references_.front();
}

namespace {

// What the best numbers say: the outcome, and where a draw begins its own search. The error is that
// of a run.
Expected<double> search(GainSearch& best, const SolveRange& range, BreakEvenRecord& out) {
  const auto low = best.gain(range.low);
  if (!low) return low;
  const auto high = best.gain(range.high);
  if (!high) return high;
  out.rises = *high >= *low;
  if ((*low >= 0) == (*high >= 0)) {
    out.outcome = *low >= 0 ? BreakEvenOutcome::always : BreakEvenOutcome::never;
    return (*low >= 0) == out.rises ? range.low : range.high;
  }
  const auto loss = [&](double x) -> Expected<double> {
    const auto gain = best.gain(x);
    if (!gain) return gain;
    return -*gain;
  };
  const auto solution = solve(loss, 0, range);
  if (!solution) return Unexpected(solution.error());
  out.outcome = BreakEvenOutcome::found;
  out.value = solution->x;
  return solution->x;
}

// The value of each draw; the error names the draw that cannot run.
Expected<std::vector<double>> drawn_values(VariedScenario& point, const BreakEvenQuestion& question,
                                           const UncertaintyConfig& u,
                                           const std::vector<double>& targets,
                                           const CrossingGuess& guess) {
  const auto uncertain = point.uncertain();
  if (!uncertain) return Unexpected(uncertain.error());
  const SearchScale scale(question.range().range());
  Resampler resampler(point.config(), u.draws, u.seed,
                      [&](const std::string& path) { return uncertain->contains(path); });
  TS_EXPECTS(targets.size() == resampler.draws(), targets.size(), resampler.draws());
  std::vector<double> out;
  for (std::size_t i = 0; i < resampler.draws(); ++i) {
    const std::string broken = resampler.draw(i);
    if (!broken.empty()) return Unexpected(broken_draw(i + 1, resampler.draws(), broken));
    point.begin_draw();
    GainSearch drawn(point, question, targets[i]);
    const auto value = crossing([&](double x) { return drawn.gain(x); }, scale, guess);
    if (!value) return Unexpected(broken_draw(i + 1, resampler.draws(), value.error()));
    out.push_back(*value);
  }
  return out;
}

}  // namespace

std::string BreakEvenSolver::answer(const SpacePoint& asked) {
  const auto with = question_.reference_of(asked);
  if (!with) return "";
  const SettingRange& range = question_.range();
  const SolveRange ends = range.range();
  VariedScenario point(loader_, {asked.scenario, asked.set}, range.key(), range.option(ends.low));
  BreakEvenRecord out{.reference = with->label, .low = ends.low, .high = ends.high};
  out.plain = ends.whole || ends.unit_exponent != 0;
  const auto without_value = [&](BreakEvenOutcome outcome, const std::string& why) {
    out.outcome = outcome;
    out.why = why;
    out.value.reset();
    return to_json(out);
  };
  const auto with_texts = [&] {
    if (out.plain) return to_json(out);
    out.shown = {range.display(out.low), range.display(out.high)};
    if (out.value) out.shown.push_back(range.display(*out.value));
    if (out.ci95) {
      out.shown.push_back(range.display(out.ci95->low));
      out.shown.push_back(range.display(out.ci95->high));
    }
    return to_json(out);
  };
  if (!point.problem().empty()) return without_value(BreakEvenOutcome::failed, point.problem());
  if (with->point == nullptr)
    return without_value(BreakEvenOutcome::no_reference, "the sweep has no such point");
  const UncertaintyConfig u = point.config().uncertainty.value_or(UncertaintyConfig{});
  const Drawn& reference = this->reference(*with->point, draws_ ? u.draws : 0, u.seed);
  if (!reference.problem.empty())
    return without_value(reference.fits ? BreakEvenOutcome::no_reference : BreakEvenOutcome::only,
                         reference.problem);
  GainSearch best(point, question_, reference.metric);
  const auto begin = search(best, ends, out);
  if (!begin) return without_value(BreakEvenOutcome::failed, begin.error());
  out.number_class = weakest(reference.number_class, point.number_class());
  if (range.key() == "what_if.far_bandwidth")
    if (const auto busiest = busiest_scaled(point.config())) {
      out.channel = busiest->first;
      out.channel_bytes_per_s = busiest->second;
    }
  if (!draws_) return with_texts();
  const double slope = slope_at(best.samples(), *begin, SearchScale(ends));
  const auto values =
      drawn_values(point, question_, u, reference.draws, {*begin, slope, out.rises});
  if (!values) return without_value(BreakEvenOutcome::failed, values.error());
  out.draws = static_cast<std::int64_t>(values->size());
  const Interval<double> middle = central_95(*values);
  out.ci95 = {std::min(middle.low, *begin), std::max(middle.high, *begin)};
  return with_texts();
}

}  // namespace tiersim
