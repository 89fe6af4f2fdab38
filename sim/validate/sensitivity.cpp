#include "sim/validate/sensitivity.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/config/describe.hpp"
#include "sim/validate/fidelity_map.hpp"
#include "sim/validate/hardware_answers.hpp"

namespace tiersim {
namespace {

constexpr std::string_view kWorkloads = "levels.";

std::vector<Fidelity> levels_of(const SensitivityCase& each) {
  return each.levels.empty() ? std::vector{Fidelity::flow, Fidelity::packet} : each.levels;
}

// Adds the questions of a curve: each point at each level.
void add_curve(std::vector<SensitivityQuestion>& out, const SensitivityConfig& config,
               const SensitivityCase& each) {
  for (std::size_t k = 0; k < config.curves.size(); ++k)
    for (std::size_t i = 0; i < config.curves[k].curves.size(); ++i) {
      const HardwareCurve& curve = config.curves[k].curves[i];
      if (curve.facts.id != each.curve) continue;
      for (std::size_t p = 0; p < curve.points.size(); ++p) {
        const auto index = static_cast<std::int64_t>(p);
        if (!each.points.empty() && std::ranges::find(each.points, index) == each.points.end())
          continue;
        for (const Fidelity level : levels_of(each))
          out.push_back({.id = curve.facts.id,
                         .place = fmt::format("curves.{}.curves.{}.{}.", k, i, each.at),
                         .level = level,
                         .curve = &curve,
                         .point = p});
      }
    }
}

SensitivityAnswer of_curve(const SensitivityQuestion& question, DramProbes& probes) {
  const HardwareCurve& curve = *question.curve;
  const ReferencePoint& point = curve.points[question.point];
  PointReading reading{.point = point, .readings = {}};
  const auto i = static_cast<std::size_t>(question.level);
  reading.readings[i] = question.level == Fidelity::flow     ? flow_result(curve, point)
                        : question.level == Fidelity::packet ? packet_result(curve, point, probes)
                                                             : analytic_result(curve, point);
  const CurveReading whole{.facts = curve.facts, .points = {}};
  const ProbeStatus status = whole.status(reading, question.level);
  return {reading.readings[i].value,
          status == ProbeStatus::outside || status == ProbeStatus::stale};
}

SensitivityAnswer of_workload(const SensitivityQuestion& question,
                              const std::vector<LevelWorkload>& workloads) {
  for (const LevelWorkload& workload : workloads)
    if (workload.facts.id == question.workload) return {workload.answer(question.level).value};
  return {};
}

// The relative change; none if one of the values is missing.
std::optional<double> moved(const SensitivityAnswer& from, const SensitivityAnswer& to) {
  if (!from.value || !to.value || *from.value == 0) return std::nullopt;
  return *to.value / *from.value - 1;
}

// The effects of both steps on one result.
struct Effect {
  std::size_t question;
  std::array<std::optional<double>, 2> moved;
  std::array<bool, 2> fails;

  bool any_fails() const { return fails[0] || fails[1]; }
  double most() const {
    return std::max(std::abs(moved[0].value_or(0)), std::abs(moved[1].value_or(0)));
  }
  bool operator<(const Effect& other) const {
    if (any_fails() != other.any_fails()) return other.any_fails();
    return most() < other.most();
  }
};

std::string reason_for(const SensitivityConfig& config, const std::string& device,
                       const std::string& path) {
  const SensitivityReason* best = nullptr;
  for (const SensitivityReason& reason : config.reasons) {
    if (!reason.device.empty() && reason.device != device) continue;
    if (!path.starts_with(reason.parameter)) continue;
    const auto rank = [](const SensitivityReason& r) {
      return std::pair(r.parameter.size(), r.device.size());
    };
    if (best == nullptr || rank(*best) < rank(reason)) best = &reason;
  }
  return best == nullptr ? "" : best->why;
}

// Returns the device's place in the case that is named.
std::string judge(ParameterSensitivity& row, const std::vector<SensitivityQuestion>& questions,
                  const std::vector<Effect>& effects) {
  const auto best = std::ranges::max_element(effects, std::less{});
  if (best == effects.end()) return {};
  for (const Effect& effect : effects) row.failing += effect.fails[0] + effect.fails[1];
  const SensitivityQuestion& named = questions[best->question];
  if (named.curve != nullptr) {
    row.curve = named.curve->facts;
    row.point = named.curve->points[named.point];
  }
  row.workload = named.workload;
  row.level = named.level;
  row.more.moved = best->moved[0];
  row.less.moved = best->moved[1];
  row.more.fails = best->fails[0];
  row.less.fails = best->fails[1];
  row.verdict = best->any_fails()                   ? SensitivityVerdict::fails
                : best->most() >= kSensitivityMoves ? SensitivityVerdict::moves
                                                    : SensitivityVerdict::insensitive;
  return named.place;
}

}  // namespace

double ParameterSensitivity::most() const {
  return std::max(std::abs(more.moved.value_or(0)), std::abs(less.moved.value_or(0)));
}

std::string SensitivityQuestion::key() const {
  return fmt::format("{} {} {}", id, point, kFidelityNames[static_cast<std::size_t>(level)]);
}

SensitivityStudy::SensitivityStudy(SensitivityConfig& config)
    : config_(config), numbers_(numbers_below(detail::view(config), "")) {
  for (const SensitiveDevice& device : config.devices) {
    std::vector<SensitivityQuestion>& out = questions_.emplace_back();
    for (const SensitivityCase& each : device.cases) {
      if (!each.curve.empty()) {
        add_curve(out, config, each);
        continue;
      }
      for (const Fidelity level : levels_of(each))
        out.push_back({.id = each.workload,
                       .place = fmt::format("{}{}.", kWorkloads, each.at),
                       .level = level,
                       .workload = each.workload});
    }
  }
}

SensitivityAnswer SensitivityStudy::answer(std::size_t device, std::size_t question) {
  const SensitivityQuestion& asked = questions_[device][question];
  return asked.curve != nullptr ? of_curve(asked, probes_)
                                : of_workload(asked, workloads_of(config_.levels));
}

std::vector<std::string> SensitivityStudy::parameters(std::size_t device) const {
  std::vector<std::string> paths;
  for (const SensitivityQuestion& question : questions_[device])
    for (const DeviceNumber& number : numbers_) {
      if (!number.path().starts_with(question.place)) continue;
      std::string path = number.path().substr(question.place.size());
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
    }
  return paths;
}

std::vector<SensitivityStudy::Target> SensitivityStudy::targets(std::size_t device,
                                                                const std::string& path) {
  std::vector<Target> out;
  for (const SensitivityQuestion& question : questions_[device]) {
    if (std::ranges::find(out, question.place, &Target::place) != out.end()) continue;
    const auto it = std::ranges::find(numbers_, question.place + path, &DeviceNumber::path);
    if (it != numbers_.end()) out.push_back({question.place, &*it, it->value()});
  }
  return out;
}

// One step for all targets: the first that no check refuses.
SensitivityStep SensitivityStudy::change(std::vector<Target>& targets, double factor) {
  SensitivityStep step{.refused = targets.front().value == 0 ? "is 0, which no factor changes"
                                                             : "no other value is allowed"};
  const std::size_t most = targets.front().number->near(factor).size();
  for (std::size_t i = 0; i < most; ++i) {
    for (Target& target : targets) {
      target.number->set(target.value);
      const std::vector<double> near = target.number->near(factor);
      if (i < near.size()) target.number->set(near[i]);
    }
    const std::string broken = broken_check_of(detail::view(config_));
    if (broken.empty()) return {.factor = targets.front().number->value() / targets.front().value};
    if (i == 0) step.refused = broken;
  }
  return step;
}

ParameterSensitivity SensitivityStudy::sensitivity_of(std::size_t device, const std::string& path,
                                                      const std::vector<SensitivityAnswer>& base,
                                                      const std::vector<std::size_t>& only) {
  const std::vector<SensitivityQuestion>& questions = questions_[device];
  TS_EXPECTS(base.size() == questions.size(), base.size(), questions.size());
  std::vector<Target> changed = targets(device, path);
  TS_EXPECTS(!changed.empty(), path);
  ParameterSensitivity row{.path = path, .value = changed.front().number->text()};
  std::vector<Effect> effects;
  const auto is_changed = [&](const SensitivityQuestion& question) {
    return std::ranges::find(changed, question.place, &Target::place) != changed.end();
  };
  for (std::size_t q = 0; q < questions.size(); ++q) {
    const bool asked = only.empty() || std::ranges::find(only, q) != only.end();
    if (asked && is_changed(questions[q]))
      effects.push_back({.question = q, .moved = {}, .fails = {}});
  }
  for (std::size_t side = 0; side < 2; ++side) {
    SensitivityStep& step = side == 0 ? row.more : row.less;
    step = change(changed, side == 0 ? 1 + kSensitivityStep : 1 - kSensitivityStep);
    if (step.refused.empty()) {
      const std::vector<LevelWorkload> workloads = workloads_of(config_.levels);
      for (Effect& effect : effects) {
        const SensitivityQuestion& asked = questions[effect.question];
        const SensitivityAnswer answer =
            asked.curve != nullptr ? of_curve(asked, probes_) : of_workload(asked, workloads);
        effect.moved[side] = moved(base[effect.question], answer);
        effect.fails[side] = answer.fails && !base[effect.question].fails;
      }
    }
    for (Target& target : changed) target.number->set(target.value);
  }
  std::string named;  // place of the device in the named case
  if (row.more.refused.empty() || row.less.refused.empty()) named = judge(row, questions, effects);
  // The value in the named case: a curve may have another value than the shipped device.
  for (const Target& target : changed)
    if (target.place == named) row.value = target.number->text();
  if (row.verdict == SensitivityVerdict::insensitive)
    row.why = reason_for(config_, config_.devices[device].name, path);
  return row;
}

std::vector<std::string> unknown_workloads(const SensitivityConfig& config) {
  const std::vector<LevelWorkload> there = workloads_of(config.levels);
  std::vector<std::string> out;
  for (const SensitiveDevice& device : config.devices)
    for (const SensitivityCase& each : device.cases) {
      const bool known =
          each.workload.empty() || std::ranges::any_of(there, [&](const LevelWorkload& workload) {
            return workload.facts.id == each.workload;
          });
      if (!known && std::ranges::find(out, each.workload) == out.end())
        out.push_back(each.workload);
    }
  return out;
}

}  // namespace tiersim
