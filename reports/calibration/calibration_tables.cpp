#include "reports/calibration/calibration_tables.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

std::string_view regime_name(const KernelFit& fit) {
  return kRegimeNames[static_cast<std::size_t>(fit.regime)];
}

std::string interval(const Estimate& e, double unit) {
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]", e.value / unit, e.low / unit, e.high / unit);
}

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

Table parameter_table(const Calibration& calibration) {
  Table table{.title = "Fitted: t0 + ((bytes/bw)^p + (flops*tail/peak)^p)^(1/p), 95 % intervals",
              .columns = {{"kernel", Align::left},
                          {"regime", Align::left},
                          {"cases"},
                          {"t0 [us]"},
                          {"bandwidth [GB/s]"},
                          {"peak [TFLOP/s]"},
                          {"p"},
                          {"misfit"}}};
  for (const KernelFit& fit : calibration.fits) {
    const bool corner = fit.has_bandwidth && fit.has_peak;
    table.add({printable(fit.kernel), std::string(regime_name(fit)),
               std::to_string(fit.in_sample.count), interval(fit.t0, 1e-6),
               fit.has_bandwidth ? interval(fit.bandwidth, 1e9) : "not seen",
               fit.has_peak ? interval(fit.peak, 1e12) : "not seen",
               corner ? interval(fit.sharpness, 1) : "-",
               fmt::format("[{:.3f}, {:.3f}]", fit.misfit.low, fit.misfit.high)});
    for (const std::string& note : fit.notes)
      table.notes.push_back(
          printable(fmt::format("{} ({}): {}", fit.kernel, regime_name(fit), note)));
  }
  for (const LeftOut& left : calibration.left_out)
    table.notes.push_back(printable(fmt::format("left out: {}: {}", left.what, left.why)));
  return table;
}

Table error_table(const Calibration& calibration) {
  Table table{.title = "Errors in %: on the fitted cases, and on cases that the fit did not see",
              .columns = {{"kernel", Align::left},
                          {"regime", Align::left},
                          {"cases", Align::left},
                          {"count"},
                          {"signed mean"},
                          {"median"},
                          {"p90"},
                          {"worst"},
                          {"in interval"},
                          {"worst case", Align::left}}};
  for (const KernelFit& fit : calibration.fits)
    for (const auto& [cases, errors] :
         {std::pair{"fitted", &fit.in_sample}, std::pair{"every third, held out", &fit.held_out},
          std::pair{"largest, held out", &fit.largest}}) {
      if (errors->count == 0) continue;
      table.add({printable(fit.kernel), std::string(regime_name(fit)), cases,
                 std::to_string(errors->count), fmt::format("{:+.1f}", 100 * errors->signed_mean),
                 percent(errors->median), percent(errors->p90), percent(errors->worst),
                 fmt::format("{:.0f} %", 100 * errors->coverage), printable(errors->worst_case)});
    }
  return table;
}

Table family_table(const Calibration& calibration) {
  Table table{.title = "What each kernel family of the simulator uses",
              .columns = {{"family", Align::left}, {"fit", Align::left}}};
  for (std::size_t f = 0; f < kKernelFamilyNames.size(); ++f) {
    const KernelFit* fit = fit_for(static_cast<KernelFamily>(f), calibration);
    table.add({std::string(kKernelFamilyNames[f]),
               fit != nullptr ? printable(fit->kernel) : "none: specification"});
  }
  return table;
}

Json json_of(const Estimate& e) {
  return {{"value", e.value}, {"ci95", {e.low, e.high}}};
}

Json json_of(const ErrorSummary& e) {
  return {
      {"count", e.count}, {"signed_mean", e.signed_mean}, {"median", e.median},    {"p90", e.p90},
      {"worst", e.worst}, {"worst_case", e.worst_case},   {"coverage", e.coverage}};
}

Json json_of(const KernelFit& fit) {
  Json out{{"kernel", fit.kernel}, {"regime", regime_name(fit)}, {"t0_s", json_of(fit.t0)}};
  if (fit.has_bandwidth) out["bandwidth_bytes_per_s"] = json_of(fit.bandwidth);
  if (fit.has_peak) out["peak_flops_per_s"] = json_of(fit.peak);
  if (fit.has_bandwidth && fit.has_peak) out["sharpness"] = json_of(fit.sharpness);
  if (fit.has_latency) out["latency_s"] = json_of(fit.latency);
  out["misfit"] = json_of(fit.misfit);
  out["knots"] = fit.table.size();
  out["errors"] = {{"in_sample", json_of(fit.in_sample)},
                   {"held_out", json_of(fit.held_out)},
                   {"largest", json_of(fit.largest)}};
  out["notes"] = fit.notes;
  return out;
}

}  // namespace

std::vector<Table> calibration_tables(const Calibration& calibration) {
  return {parameter_table(calibration), error_table(calibration), family_table(calibration)};
}

std::string calibration_json(const Calibration& calibration) {
  Json fits = Json::array();
  for (const KernelFit& fit : calibration.fits) fits.push_back(json_of(fit));
  Json families = Json::object();
  for (std::size_t f = 0; f < kKernelFamilyNames.size(); ++f)
    if (const KernelFit* fit = fit_for(static_cast<KernelFamily>(f), calibration); fit != nullptr)
      families[std::string(kKernelFamilyNames[f])] = fit->kernel;
  Json left_out = Json::array();
  for (const LeftOut& left : calibration.left_out)
    left_out.push_back({{"what", left.what}, {"why", left.why}});
  return Json{{"fits", std::move(fits)},
              {"families", std::move(families)},
              {"left_out", std::move(left_out)}}
             .dump() +
         '\n';
}

}  // namespace tiersim
