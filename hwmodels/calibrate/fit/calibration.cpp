#include "hwmodels/calibrate/fit/calibration.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

// Shares of L2 between which a working set is partly in L2.
constexpr double kSurelyIn = 0.7;
constexpr double kSurelyOut = 1.5;

// Shapes of one library call. The cases of our own kernels name them by their place in a model.
constexpr std::string_view kLibraryProduct = "library_product";
constexpr std::array<std::string_view, 3> kProducts{"projection", "feed_forward", "head_product"};

// "mma_sync" of "mma_sync.ring2": variants that differ only in tuned tiles and depths of rings are
// one kernel; variants that compute in another way are not.
std::string stem_of(const std::string& variant) {
  const auto end = std::ranges::find_if(variant, [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_');
  });
  return {variant.begin(), end};
}

FitCase to_fit_case(const TimingCase& timing, Regime regime) {
  return {.name = timing.name,
          .point = point_of(timing, regime),
          .seconds = timing.seconds,
          .low = timing.low,
          .high = timing.high};
}

struct Group {
  std::string dtype;
  std::vector<FitCase> cases;
};
using Groups = std::map<std::pair<std::string, Regime>, Group>;

Groups grouped(const TimingSet& set, std::vector<LeftOut>& left_out) {
  Groups groups;
  for (const TimingCase& timing : set.cases) {
    const auto regime = regime_of(timing, set.l2_bytes);
    if (!regime) {
      left_out.push_back({timing.name, "warm, with a working set near the size of L2"});
      continue;
    }
    Group& group = groups[{fit_name(timing), *regime}];
    group.dtype = timing.dtype;
    group.cases.push_back(to_fit_case(timing, *regime));
  }
  return groups;
}

Ceilings ceilings_of(const TimingSet& set, Regime regime, const std::string& dtype) {
  constexpr std::array<std::string_view, 3> kLevels{"memory", "l2", "link_read"};  // by Regime
  return {.bandwidth = hard_peak(set, kLevels[static_cast<std::size_t>(regime)]),
          .peak = hard_peak(set, "flops." + dtype)};
}

// Geometric mean over the fitted cases that have the quantity.
double middle_of(const std::vector<double>& values) {
  double sum = 0;
  double count = 0;
  for (const double value : values) {
    if (value <= 0) continue;
    sum += portable_log(value);
    ++count;
  }
  return count > 0 ? portable_exp(sum / count) : 0;
}

bool is_of(const KernelFit& fit, std::string_view kernel) {
  const std::string_view name = fit.kernel;
  return name.starts_with(kernel) &&
         (name.size() == kernel.size() || name[kernel.size()] == '/' || name[kernel.size()] == ' ');
}

}  // namespace

double hard_peak(const TimingSet& set, std::string_view name) {
  for (const TimingPeak& peak : set.peaks)
    if (peak.hard && peak.name == name) return peak.value;
  return 0;
}

std::optional<Regime> regime_of(const TimingCase& timing, double l2_bytes) {
  if (timing.work.link_read_bytes > 0 || timing.work.link_write_bytes > 0) return Regime::link;
  if (timing.temperature == Temperature::cold || l2_bytes <= 0) return Regime::memory;
  if (timing.work.memory_bytes <= kSurelyIn * l2_bytes) return Regime::l2;
  if (timing.work.memory_bytes >= kSurelyOut * l2_bytes) return Regime::memory;
  return std::nullopt;
}

KernelPoint point_of(const TimingCase& timing, Regime regime) {
  KernelPoint point{.bytes = timing.work.memory_bytes,
                    .flops = timing.work.flops,
                    .tail = timing.tail,
                    .bytes_in_flight = timing.bytes_in_flight};
  if (regime == Regime::l2)
    point.bytes = std::max(timing.work.memory_bytes, timing.work.requested_bytes);
  if (regime == Regime::link)
    point.bytes = std::max(timing.work.link_read_bytes, timing.work.link_write_bytes);
  return point;
}

std::string fit_name(const TimingCase& timing) {
  const bool product = timing.baseline && std::ranges::count(kProducts, timing.kernel) != 0;
  std::string name = product ? std::string(kLibraryProduct) : timing.kernel;
  if (const std::string stem = stem_of(timing.variant); stem.size() > 1) name += '/' + stem;
  if (!timing.dtype.empty()) name += ' ' + timing.dtype;
  const auto append = [&](std::string_view size) {
    const auto found = timing.shape.find(std::string(size));
    if (found != timing.shape.end() && found->second > 0)
      name += fmt::format(" {}={}", size, found->second);
  };
  // A kernel that reads whole arrays names their bytes as well, but no rows.
  const auto rows = timing.shape.find("row_bytes");
  if (rows != timing.shape.end() && rows->second > 0)
    for (const std::string_view size : kPatternSizes) append(size);
  if (timing.shape.contains("heads")) append("latent_dim");
  return name;
}

Calibration calibrate(const TimingSet& set, const FitOptions& options) {
  Calibration out;
  out.families = set.families;
  for (auto& [key, group] : grouped(set, out.left_out)) {
    const auto& [name, regime] = key;
    FitOptions own = options;
    own.ceilings = ceilings_of(set, regime, group.dtype);
    auto fitted = fit_kernel(group.cases, own);
    if (!fitted) {
      out.left_out.push_back(
          {fmt::format("{} ({})", name, kRegimeNames[static_cast<std::size_t>(regime)]),
           fitted.error()});
      continue;
    }
    KernelFit fit = *std::move(fitted);
    fit.kernel = name;
    fit.dtype = group.dtype;
    fit.regime = regime;
    fit.device = set.device;
    fit.date = set.date;
    fit.data_class = set.data_class;
    std::vector<double> bytes;
    std::vector<double> flops;
    for (const FitCase& c : group.cases) {
      bytes.push_back(c.point.bytes);
      flops.push_back(c.point.flops);
      fit.bytes_in_flight = std::max(fit.bytes_in_flight, c.point.bytes_in_flight);
    }
    fit.middle = {.bytes = middle_of(bytes), .flops = middle_of(flops)};
    out.fits.push_back(std::move(fit));
  }
  return out;
}

std::span<const std::string_view> family_kernels(KernelFamily family) {
  static constexpr std::array<std::string_view, 1> kGemm{kLibraryProduct};
  static constexpr std::array<std::string_view, 1> kAttention{"dense_decode"};
  static constexpr std::array<std::string_view, 1> kGrouped{"gqa_decode"};
  static constexpr std::array<std::string_view, 1> kGathered{"selected_attention"};
  static constexpr std::array<std::string_view, 1> kLatent{"latent_decode"};
  static constexpr std::array<std::string_view, 1> kScreening{"maple_screen"};
  static constexpr std::array<std::string_view, 1> kElementwise{"append_latent"};
  switch (family) {
    case KernelFamily::gemm:
      return kGemm;
    case KernelFamily::attention:
      return kAttention;
    case KernelFamily::grouped_attention:
      return kGrouped;
    case KernelFamily::gathered_attention:
      return kGathered;
    case KernelFamily::latent_attention:
      return kLatent;
    case KernelFamily::prefill_attention:
    case KernelFamily::experts:
    case KernelFamily::quantisation:
    case KernelFamily::linear_attention:
    case KernelFamily::causal_conv:
    case KernelFamily::batched_gemm:
      return {};
    case KernelFamily::screening:
      return kScreening;
    case KernelFamily::elementwise:
      return kElementwise;
  }
  return {};
}

const KernelFit* fit_for(KernelFamily family, const Calibration& calibration) {
  std::vector<std::vector<std::string_view>> choices(1);  // the first that is fitted counts
  for (const auto& [kernel, of] : calibration.families)
    if (of == family) choices.front().push_back(kernel);
  if (choices.front().empty()) choices.clear();
  if (choices.empty())
    for (const std::string_view kernel : family_kernels(family)) choices.push_back({kernel});
  for (const std::vector<std::string_view>& kernels : choices) {
    std::vector<const KernelFit*> variants;
    KernelPoint middle;
    for (const KernelFit& fit : calibration.fits) {
      const auto names = [&](std::string_view kernel) { return is_of(fit, kernel); };
      if (fit.regime != Regime::memory || std::ranges::none_of(kernels, names)) continue;
      variants.push_back(&fit);
      middle.bytes = std::max(middle.bytes, fit.middle.bytes);
      middle.flops = std::max(middle.flops, fit.middle.flops);
    }
    if (variants.empty()) continue;
    return *std::ranges::min_element(variants, {}, [&](const KernelFit* fit) {
      return through_table(fit->table, kernel_time(fit->best, middle));
    });
  }
  return nullptr;
}

}  // namespace tiersim
