#include "hwmodels/calibrate/fit/scoring.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hwmodels/calibrate/fit/fit.hpp"
#include "hwmodels/calibrate/read/iso_date.hpp"
#include "hwmodels/calibrate/read/order_statistics.hpp"

namespace tiersim {
namespace {

// Message where the dates do not show that the predictions came first; empty where they do.
std::string date_problem(const PredictedTimes& predicted, const MeasuredTimes& measured) {
  if (predicted.date.empty() || measured.date.empty())
    return fmt::format("{} has no date, so nothing says which came first",
                       predicted.date.empty() ? predicted.file : measured.file);
  const auto first = parse_iso_date(predicted.date);
  const auto second = parse_iso_date(measured.date);
  if (!first || !second)
    return fmt::format("'{}' of {} is no date ({})", first ? measured.date : predicted.date,
                       first ? measured.file : predicted.file, kIsoDateForm);
  switch (date_order(*first, *second)) {
    case DateOrder::later:
      return fmt::format("{} is of {}, after the measurement of {}", predicted.file, predicted.date,
                         measured.date);
    case DateOrder::undecided:
      return fmt::format("{} is of {} and {} of {}: nothing says which came first", predicted.file,
                         predicted.date, measured.file, measured.date);
    case DateOrder::not_later:
      break;
  }
  return "";
}

bool same(const Estimate& a, const Estimate& b) {
  const auto near = [](double x, double y) {  // files round to 15 digits
    return std::abs(x - y) <= 1e-12 * std::max(std::abs(x), std::abs(y));
  };
  return near(a.value, b.value) && near(a.low, b.low) && near(a.high, b.high);
}

// Errors of a baseline over the scored cases that have one; a baseline has no interval.
std::optional<ErrorSummary> baseline(const MeasuredTimes& measured, const Score& score,
                                     std::optional<double> MeasuredTimes::Case::*time) {
  std::vector<CaseError> errors;
  std::size_t next = 0;
  for (const MeasuredTimes::Case& each : measured.cases) {
    if (next == score.cases.size() || score.cases[next].name != each.name) continue;
    ++next;
    if (!(each.*time)) continue;
    const double said = *(each.*time);
    errors.push_back({.name = each.name,
                      .measured = each.seconds,
                      .predicted = {said, said, said},
                      .error = said / each.seconds - 1});
  }
  if (errors.empty()) return std::nullopt;
  return summarise(errors);
}

}  // namespace

std::vector<std::string> refusals(const PredictedTimes& predicted, const MeasuredTimes& measured) {
  std::vector<std::string> out;
  constexpr std::array<std::string_view, 3> kClasses{"measured", "reported", "synthetic"};
  if (std::ranges::find(kClasses, measured.data_class) == kClasses.end())
    out.push_back(fmt::format("{} is of class '{}', none of {}: nothing was measured",
                              measured.file, measured.data_class, fmt::join(kClasses, ", ")));
  if (predicted.build_id != measured.build_id)
    out.push_back(fmt::format("{} is of build '{}' and {} of '{}'", predicted.file,
                              predicted.build_id, measured.file, measured.build_id));
  if (std::string why = date_problem(predicted, measured); !why.empty())
    out.push_back(std::move(why));
  std::map<std::string, const Estimate*> said;
  for (const PredictedTimes::Case& each : predicted.cases) said[each.name] = &each.time;
  for (const MeasuredTimes::Case& each : measured.cases) {
    const auto at = said.find(each.name);
    if (each.foretold && at != said.end() && !same(*each.foretold, *at->second))
      out.push_back(
          fmt::format("{}: {} was measured against another prediction", measured.file, each.name));
  }
  return out;
}

Score score(const PredictedTimes& predicted, const MeasuredTimes& measured) {
  std::map<std::string, const Estimate*> said;
  for (const PredictedTimes::Case& each : predicted.cases) said[each.name] = &each.time;
  Score out;
  std::vector<CaseError> errors;
  std::vector<double> noises;
  for (const MeasuredTimes::Case& each : measured.cases) {
    const auto at = said.find(each.name);
    if (at == said.end()) {
      out.only_measured.push_back(each.name);
      continue;
    }
    const Estimate& time = *at->second;
    ScoredCase made{.name = each.name, .predicted = time, .measured = each.seconds};
    made.error = time.value / each.seconds - 1;
    made.noise = each.noise;
    const bool covered = time.low <= each.seconds && each.seconds <= time.high;
    const bool resolved = std::abs(made.error) >= each.noise;
    if (!covered) made.status = resolved ? ScoreStatus::missed : ScoreStatus::below_noise;
    out.unresolved += resolved ? 0 : 1;
    errors.push_back(
        {.name = each.name, .measured = each.seconds, .predicted = time, .error = made.error});
    noises.push_back(each.noise);
    out.cases.push_back(std::move(made));
    said.erase(at);
  }
  for (const PredictedTimes::Case& each : predicted.cases)
    if (said.contains(each.name)) out.only_predicted.push_back(each.name);
  if (errors.empty()) return out;
  out.summary = summarise(errors);
  out.noise_floor = median_of(noises);
  out.roofline = baseline(measured, out, &MeasuredTimes::Case::roofline);
  out.sum = baseline(measured, out, &MeasuredTimes::Case::sum);
  return out;
}

}  // namespace tiersim
