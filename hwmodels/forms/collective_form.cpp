#include "hwmodels/forms/collective_form.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "hwmodels/forms/blend.hpp"
#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr std::array<FormSize, 3> kCollectiveSizes{
    FormSize{"ranks", "GPUs that take part."},
    {"bytes", "Bytes of the whole: of the sum, or of all pieces together."},
    {"passes", "2 for an all-reduce, 1 for all others."}};

enum class CollectiveParameter : std::size_t {
  t0,            // shortest time [s]
  small_hop,     // [s]
  small_rate,    // share of the port
  middle_start,  // [s]
  middle_hop,    // [s]
  middle_rate,   // share of the port
  large_start,   // [s]
  large_hop,     // [s]
  large_rate,    // share of the port
  sharpness,     // p
  ranks,         // exponent of the middle and the large rate
  small_ranks,   // exponent of the small rate
  steps,         // exponent of the hops
};
constexpr std::array<FormParameter, 13> kCollectiveParameters{FormParameter{"t0", 4e-6, 5e-7, 6e-5},
                                                              {"small_hop", 2e-7, 1e-9, 1e-4},
                                                              {"small_rate", 0.4, 0.003, 1.2},
                                                              {"middle_start", 8e-6, 5e-7, 2e-4},
                                                              {"middle_hop", 5e-7, 1e-9, 1e-4},
                                                              {"middle_rate", 0.6, 0.003, 1.2},
                                                              {"large_start", 1.5e-5, 1e-6, 1e-3},
                                                              {"large_hop", 1e-6, 1e-9, 1e-4},
                                                              {"large_rate", 0.8, 0.003, 1.2},
                                                              {"sharpness", 3, 1, 8},
                                                              {"ranks", 1, 0.3, 3},
                                                              {"small_ranks", 1, 0.3, 3},
                                                              {"steps", 1, 0.2, 1.5}};

// A variant: the bytes of the small protocol, and where the library goes over to the large one.
constexpr std::size_t kUnswitched = 2;
constexpr std::array<double, 7> kSwitches{262144,  524288,  1048576, 2097152,
                                          4194304, 8388608, 16777216};  // B

struct Choice {
  bool one_shot = false;
  bool of_a_rank = false;  // the switch counts bytes * 2 / ranks
  double large_from = 0;   // B; 0: where it is faster
};
constexpr Choice choice_of(std::size_t variant) {
  if (variant < kUnswitched) return {.one_shot = variant == 1};
  const std::size_t rest = variant - kUnswitched;
  return {.one_shot = rest / kSwitches.size() % 2 == 1,
          .of_a_rank = rest / kSwitches.size() / 2 == 1,
          .large_from = kSwitches[rest % kSwitches.size()]};
}
constexpr std::size_t kVariants = kUnswitched + 4 * kSwitches.size();

std::array<std::string, kVariants> variant_names() {
  std::array<std::string, kVariants> out;
  for (std::size_t i = 0; i < kVariants; ++i) {
    const Choice choice = choice_of(i);
    out[i] = choice.one_shot ? "one shot" : "flags";
    if (choice.large_from > 0)
      out[i] += ", large from " + std::to_string(std::int64_t(choice.large_from / 1024)) + " KiB" +
                (choice.of_a_rank ? " for each of two ranks" : "");
  }
  return out;
}

double power(double base, double exponent) {
  return portable_exp(exponent * portable_log(base));
}

// (sum of t^-8)^(-1/8), never above the least.
double smooth_min(std::span<const double> times) {
  const double least = *std::ranges::min_element(times);
  double sum = 0;
  for (const double time : times) {
    const double square = (least / time) * (least / time);
    sum += square * square * square * square;
  }
  return least * portable_exp(-portable_log(sum) / 8);
}

class CollectiveForm final : public KernelForm {
 public:
  std::string_view name() const override { return "collective"; }
  std::span<const FormSize> sizes() const override { return kCollectiveSizes; }
  std::span<const FormParameter> parameters() const override { return kCollectiveParameters; }
  std::span<const std::string_view> variants() const override {
    static const std::array<std::string, kVariants> names = variant_names();
    static const std::vector<std::string_view> views(names.begin(), names.end());
    return views;
  }
  bool in_range(KernelSizes sizes) const override { return sizes[0] >= 2 && sizes[1] >= 1; }

  double physics(KernelSizes sizes, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t variant) const override {
    using P = CollectiveParameter;
    TS_EXPECTS(gpu.port > 0, gpu.port);
    const auto at = [&](P p) { return parameters[static_cast<std::size_t>(p)]; };
    const CollectiveCase c{sizes[0], sizes[1], sizes[2]};
    const Choice choice = choice_of(variant);
    const double least = c.passes * (c.ranks - 1) / c.ranks * c.bytes;
    const double sent = choice.one_shot && c.passes > 1 ? (c.ranks - 1) * c.bytes : 2 * least;
    const double hops = power(c.ranks - 1, at(P::steps));
    const double loss = power(c.ranks / 2, at(P::ranks) - 1);
    const double small_loss = power(c.ranks / 2, at(P::small_ranks) - 1);
    const std::array<double, 3> times{
        blend(at(P::t0) + at(P::small_hop) * hops,
              sent * small_loss / (at(P::small_rate) * gpu.port), at(P::sharpness)),
        blend(at(P::middle_start) + at(P::middle_hop) * hops,
              least * loss / (at(P::middle_rate) * gpu.port), at(P::sharpness)),
        at(P::large_start) + at(P::large_hop) * hops +
            least * loss / (at(P::large_rate) * gpu.port)};
    if (choice.large_from <= 0) return smooth_min(times);
    const double counted = choice.of_a_rank ? c.bytes * 2 / c.ranks : c.bytes;
    return counted < choice.large_from ? smooth_min(std::span(times).first(2)) : times[2];
  }

  SurfaceRow surface(KernelSizes sizes, const GpuSheet&) const override {
    static const std::vector<double> by_ranks{1, 2, 3};
    static const std::vector<double> by_bytes{8, 11, 14, 17, 20, 23, 26, 30};
    return tensor(hat_weights(log2_of(sizes[0]), by_ranks),
                  hat_weights(log2_of(sizes[1]), by_bytes), 8);
  }
  int surface_columns() const override { return 3 * 8; }
};

}  // namespace

const KernelForm& collective_form() {
  static const CollectiveForm form;
  return form;
}

}  // namespace tiersim
