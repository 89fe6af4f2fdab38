#include "hwmodels/calibrate/read/plausibility.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_checks.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace detail {

void Findings::refuse(std::size_t index, std::string rule, std::string reason, std::string where) {
  const TimingCase& timing = timings_.cases[index];
  refused_[index] = true;
  if (where.empty()) where = timing.where;
  refusals_.push_back({index, {std::move(where), timing.name, std::move(rule), std::move(reason)}});
}

void Findings::warn(std::size_t index, std::string rule, std::string reason) {
  const TimingCase& timing = timings_.cases[index];
  warnings_.push_back({timing.where, timing.name, std::move(rule), std::move(reason)});
}

void Findings::warn_file(std::string rule, std::string reason) {
  warnings_.push_back({timings_.file + ":1:1", "", std::move(rule), std::move(reason)});
}

bool Findings::refused_for(std::size_t index, std::string_view rule) const {
  return std::ranges::any_of(refusals_, [&](const Finding& finding) {
    return finding.index == index && finding.text.rule == rule;
  });
}

Plausible Findings::result() const {
  Plausible out;
  out.refused = timings_.refused;
  out.warnings = warnings_;
  out.notes = notes_;
  std::vector<Finding> sorted = refusals_;
  std::ranges::stable_sort(sorted, {}, &Finding::index);
  for (Finding& finding : sorted) out.refused.push_back(std::move(finding.text));
  for (std::size_t i = 0; i < timings_.cases.size(); ++i) {
    if (!refused_[i]) out.kept.push_back(timings_.cases[i]);
  }
  return out;
}

double log_noise(const TimingCase& timing) {
  constexpr double kStandardErrors = 1.96;  // half width of a 95 % interval
  const bool stated = timing.low > 0 && timing.high > timing.low;
  if (!stated) return std::max(kUnstatedNoise, timing.repeat_noise);
  return portable_log(timing.high / timing.low) / (2 * kStandardErrors);
}

double standard_errors(std::size_t comparisons) {
  const double m = static_cast<double>(std::max<std::size_t>(comparisons, 1));
  return std::sqrt(2 * portable_log(m / (2 * kFalseAlarms)));
}

int element_bytes(std::string_view dtype) {
  for (const std::string_view one : {"int8", "uint8", "fp8", "e4m3", "e5m2"}) {
    if (dtype == one) return 1;
  }
  for (const std::string_view two : {"bf16", "fp16", "f16", "half", "bfloat16", "int16"}) {
    if (dtype == two) return 2;
  }
  for (const std::string_view four : {"fp32", "f32", "float", "int32", "uint32"}) {
    if (dtype == four) return 4;
  }
  for (const std::string_view eight : {"fp64", "f64", "double", "int64", "uint64"}) {
    if (dtype == eight) return 8;
  }
  return 0;
}

}  // namespace detail

std::string text(const TimingRefusal& refusal, std::string_view severity) {
  std::string out = fmt::format("{}: {}: ", refusal.where, severity);
  if (!refusal.name.empty()) out += refusal.name + ": ";
  return out + refusal.rule + ": " + refusal.reason;
}

Plausible check_timings(const TimingSet& timings) {
  detail::Findings findings(timings);
  detail::check_limits(timings, findings);
  detail::check_labels(timings, findings);
  detail::check_duplicates(timings, findings);
  detail::check_work(timings, findings);
  detail::check_byte_formulas(timings, findings);
  detail::check_neighbours(timings, findings);
  detail::check_trend(timings, findings);
  return findings.result();
}

}  // namespace tiersim
