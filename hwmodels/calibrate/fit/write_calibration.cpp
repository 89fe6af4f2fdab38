#include "hwmodels/calibrate/fit/write_calibration.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

std::string seconds(double value) {
  return fmt::format("{:.6f} us", 1e6 * value);
}
std::string byte_rate(double value) {
  return fmt::format("{:.6f} GB/s", 1e-9 * value);
}
std::string flop_rate(double value) {
  return fmt::format("{:.6f} TFLOP/s", 1e-12 * value);
}
std::string ratio(double value) {
  return fmt::format("{:.6f}", value);
}

std::string class_of(const TimingSet& set) {
  return set.data_class == "measured" ? "fitted" : "assumed";
}

std::string source_of(const TimingSet& set, const KernelFit& fit) {
  return fmt::format("fitted to {} cases of {} timed on {} ({}{})", fit.in_sample.count, fit.kernel,
                     set.device.empty() ? "an unnamed device" : set.device, set.data_class,
                     set.date.empty() ? "" : ", " + set.date);
}

class Writer {
 public:
  explicit Writer(std::string number_class, std::string source)
      : class_(std::move(number_class)), source_(std::move(source)) {}

  void line(std::string_view text) { out += fmt::format("    {}\n", text); }
  template <class Format>
  void number(std::string_view key, const Estimate& e, Format format) {
    line(fmt::format("{}: {{value: {}, class: {}, ci95: [{}, {}], source: {}}}", key,
                     format(e.value), class_, format(e.low), format(e.high), yaml_quoted(source_)));
  }
  /// A rate held at the data sheet's: the number is the data sheet's, its interval the cases'.
  template <class Format>
  void held(std::string_view key, const Estimate& e, Format format) {
    line(fmt::format("{}: {{value: {}, class: specification, ci95: [{}, {}], source: {}}}", key,
                     format(e.value), format(e.low), format(e.high),
                     yaml_quoted("data sheet, which the best fit would exceed; " + source_)));
  }

  std::string out;

 private:
  std::string class_;
  std::string source_;
};

// Correlations of the numbers that are written, in order.
std::string correlations(const KernelFit& fit, bool sharpness) {
  const std::array present{true, fit.has_bandwidth, fit.has_peak, sharpness};
  std::string out;
  std::size_t at = 0;
  for (std::size_t a = 0; a < present.size(); ++a)
    for (std::size_t b = a + 1; b < present.size(); ++b, ++at)
      if (present[a] && present[b])
        out += fmt::format("{}{:.6f}", out.empty() ? "" : ", ", fit.correlation[at]);
  return out;
}

// The simulator's name of the arithmetic; empty where it has none.
std::string arithmetic_of(const KernelFit& fit) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOthers{{{"fp16", "bf16"},
                                                                                  {"f16", "bf16"},
                                                                                  {"half", "bf16"},
                                                                                  {"e4m3", "fp8"},
                                                                                  {"e5m2", "fp8"},
                                                                                  {"f8", "fp8"},
                                                                                  {"uint8", "int8"},
                                                                                  {"i8", "int8"}}};
  if (std::ranges::find(kArithmeticNames, fit.dtype) != kArithmeticNames.end()) return fit.dtype;
  for (const auto& [other, ours] : kOthers)
    if (fit.dtype == other) return std::string(ours);
  return "";
}

std::string family_yaml(const TimingSet& set, const KernelFit& fit,
                        const CalibrationOrigin& origin) {
  // The interval is the observed spread of parts in the reached share of their data-sheet rates.
  constexpr std::string_view kTransfer =
      "transfer: {value: 1, class: assumed, ci95: [0.84, 1.19], source: \"parts reach different "
      "shares of their data sheets: HBM copies .82 to .93, matrix products .67 to .80\"}";
  Writer w(class_of(set), source_of(set, fit));
  const bool sharpness = fit.has_bandwidth && fit.has_peak;
  const std::string arithmetic = arithmetic_of(fit);
  w.line(fmt::format("kernel: {}", yaml_quoted(fit.kernel)));
  w.line(fmt::format("from: {}", yaml_quoted(origin.name)));
  w.line(fmt::format("part: {}", origin.part));
  w.line(fmt::format("arithmetic: {}", arithmetic));
  w.number("launch", fit.t0, seconds);
  const auto rate = [&w](bool held, std::string_view key, const Estimate& e, auto format) {
    if (held)
      w.held(key, e, format);
    else
      w.number(key, e, format);
  };
  if (fit.has_bandwidth) rate(fit.held_bandwidth, "bandwidth", fit.bandwidth, byte_rate);
  if (fit.has_peak) rate(fit.held_peak, "peak", fit.peak, flop_rate);
  if (sharpness) w.number("sharpness", fit.sharpness, ratio);
  if (fit.has_latency) {
    w.number("latency", fit.latency, seconds);
    w.line(fmt::format(
        "in_flight: {{value: {:.0f} B, class: specification, source: \"design of the kernel\"}}",
        fit.bytes_in_flight));
  }
  w.number("misfit", fit.misfit, ratio);
  w.line(kTransfer);
  w.line(fmt::format("correlation: [{}]", correlations(fit, sharpness)));
  if (!fit.table.empty()) w.line("table:");
  for (const TimeKnot& knot : fit.table)
    w.line(fmt::format("  - {{modelled: {}, measured: {}}}", seconds(knot.modelled),
                       seconds(knot.measured)));
  w.line(fmt::format("shortest: {}", seconds(fit.shortest)));
  w.line(fmt::format("longest: {}", seconds(fit.longest)));
  const auto peak = [&](std::string_view key, double value, const auto& format) {
    w.line(fmt::format(
        "{}: {{value: {}, class: specification, source: \"data sheet, as the timings name it\"}}",
        key, format(value)));
  };
  peak("part_memory_peak", hard_peak(set, "memory"), byte_rate);
  peak("part_peak", hard_peak(set, "flops." + arithmetic), flop_rate);
  return std::move(w.out);
}

}  // namespace

bool is_part(std::string_view device, std::string_view part) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : device) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (word && !inside) words.emplace_back();
    if (word) words.back() += upper ? static_cast<char>(c - 'A' + 'a') : c;
    inside = word;
  }
  // The token is a word, two joined neighbours ("RTX 4090"), or a capacity ("80GB").
  const auto has = [&](std::string_view token) {
    for (std::size_t first = 0; first < words.size(); ++first) {
      std::string joined;
      for (std::size_t last = first; last < words.size(); ++last) {
        joined += words[last];
        if (joined == token || joined == std::string(token) + "gb") return true;
      }
    }
    return false;
  };
  bool all = !part.empty();
  for (std::size_t at = 0; all && at <= part.size();) {
    const std::size_t end = std::min(part.find('_', at), part.size());
    all = has(part.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

std::vector<std::string> problems_of(const TimingSet& set, const Calibration& calibration,
                                     const CalibrationOrigin& origin) {
  std::vector<std::string> out;
  if (set.device.empty())
    out.emplace_back("the timings do not name their device (--device NAME)");
  else if (!is_part(set.device, origin.part))
    out.push_back(fmt::format("was timed on '{}', which is no {}", set.device, origin.part));
  if (set.data_class == "none") out.emplace_back("times of a dry run say nothing of any device");
  if (calibration.fits.empty()) out.emplace_back("no kernel has enough cases for a fit");
  if (hard_peak(set, "memory") <= 0)
    out.emplace_back(
        "the data-sheet rate of the device's memory is not stated (--peak memory=RATE)");
  bool serves = false;
  for (std::size_t f = 0; f < kKernelFamilyNames.size(); ++f) {
    const KernelFit* fit = fit_for(static_cast<KernelFamily>(f), calibration);
    if (fit == nullptr) continue;
    serves = true;
    if (arithmetic_of(*fit).empty()) {
      out.push_back(
          fmt::format("{}: its operand type '{}' is none of the simulator's (column dtype: {})",
                      fit->kernel, fit->dtype, fmt::join(kArithmeticNames, ", ")));
      continue;
    }
    const std::string name = "flops." + arithmetic_of(*fit);
    const auto above = [&](bool has, const Estimate& rate, std::string_view peak) {
      if (!has || hard_peak(set, peak) <= 0 || rate.value <= hard_peak(set, peak)) return;
      out.push_back(
          fmt::format("{}: the fit's rate of {:.4g}/s is above the data sheet's {:.4g}/s "
                      "({})",
                      fit->kernel, rate.value, hard_peak(set, peak), peak));
    };
    above(fit->has_bandwidth, fit->bandwidth, "memory");
    above(fit->has_peak, fit->peak, name);
    const std::string text =
        fmt::format("the data-sheet rate of {0} arithmetic is not stated (--peak flops.{0}=RATE)",
                    arithmetic_of(*fit));
    if (hard_peak(set, name) <= 0 && std::ranges::find(out, text) == out.end()) out.push_back(text);
  }
  if (!serves && !calibration.fits.empty())
    out.push_back(fmt::format(
        "none of the fitted kernels stands for a family of the simulator (--family NAME=KIND; "
        "kinds: {})",
        fmt::join(kKernelFamilyNames, ", ")));
  return out;
}

std::string gpu_yaml(const TimingSet& set, const Calibration& calibration,
                     const CalibrationOrigin& origin) {
  std::string out = fmt::format(
      "# Written by `tiersim calibrate` from {} timings of {}.\n"
      "schema: tiersim.device/v1\nkernels:\n",
      set.data_class, set.device.empty() ? "an unnamed device" : set.device);
  bool any = false;
  for (std::size_t f = 0; f < kKernelFamilyNames.size(); ++f) {
    const KernelFit* fit = fit_for(static_cast<KernelFamily>(f), calibration);
    if (fit == nullptr) continue;
    out += fmt::format("  {}:\n{}", kKernelFamilyNames[f], family_yaml(set, *fit, origin));
    any = true;
  }
  if (!any) out += "  {}\n";
  return out;
}

std::string cases_csv(const Calibration& calibration) {
  std::string out = "fit,regime,case,measured_s,predicted_s,low_s,high_s,error,held_out\n";
  for (const KernelFit& fit : calibration.fits)
    for (const CaseError& c : fit.cases)
      out += fmt::format("{},{},{},{:.6e},{:.6e},{:.6e},{:.6e},{:.6f},{}\n", fit.kernel,
                         kRegimeNames[static_cast<std::size_t>(fit.regime)], c.name, c.measured,
                         c.predicted.value, c.predicted.low, c.predicted.high, c.error,
                         c.largest    ? "largest"
                         : c.held_out ? "third"
                                      : "no");
  return out;
}

}  // namespace tiersim
