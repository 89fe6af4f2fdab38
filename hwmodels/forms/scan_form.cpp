#include "hwmodels/forms/scan_form.hpp"

#include <algorithm>
#include <cmath>

#include "hwmodels/forms/blend.hpp"
#include "hwmodels/forms/warm_memory.hpp"

namespace tiersim {
namespace {

constexpr double kChunk = 64;  // tokens

enum class ScanParameter : std::size_t {
  t0,         // shortest time [s]
  c0,         // time of a head [s]
  c1,         // of a token of its first chunk [s]
  c2,         // of a chunk [s]
  waves,      // w
  peak,       // share of the peak
  passes,     // over queries, keys, values and results
  states,     // over the states between chunks
  l2_speed,   // rate of L2 over that of memory
  l2_share,   // share of L2 that holds what one kernel leaves to the next
  l2_corner,  // how sharply it falls out of it
  corner,     // q
  sharpness,  // p
};
constexpr std::array<FormParameter, 13> kScanParameters{FormParameter{"t0", 5e-6, 5e-7, 8e-5},
                                                        {"c0", 5e-6, 1e-8, 1e-4},
                                                        {"c1", 1e-8, 1e-11, 2e-6},
                                                        {"c2", 2e-6, 1e-8, 5e-5},
                                                        {"waves", 2, 0.8, 8},
                                                        {"peak", 0.3, 0.01, 1},
                                                        {"passes", 2, 0.1, 50},
                                                        {"states", 1, 0.01, 20},
                                                        {"l2_speed", 3, 0.3, 40},
                                                        {"l2_share", 0.8, 0.05, 5},
                                                        {"l2_corner", 2, 0.5, 12},
                                                        {"corner", 1.5, 1, 8},
                                                        {"sharpness", 1.5, 1, 8}};
constexpr std::array<double, 5> kHeadsOfSm{0, 1, 2, 4, 8};  // 0: even
constexpr std::array<std::string_view, 5> kScanVariants{
    "even", "1 head of an SM", "2 heads of an SM", "4 heads of an SM", "8 heads of an SM"};

// By value head, of whole chunks: scores of keys by keys and by queries, their products with keys
// and values, the inverse of a triangle, and what reads and updates the state.
double chunked_flops(const LinearCase& c, double chunks) {
  const double of_token = 2 * kChunk * (3 * c.key_dim + 2 * c.value_dim) +
                          6 * c.key_dim * c.value_dim + 2 * kChunk * kChunk / 3;
  return c.states() * chunks * kChunk * of_token;
}

class ScanForm final : public KernelForm {
 public:
  std::string_view name() const override { return "linear_scan"; }
  std::span<const FormSize> sizes() const override { return kLinearSizes; }
  std::span<const FormParameter> parameters() const override { return kScanParameters; }
  std::span<const std::string_view> variants() const override { return kScanVariants; }
  bool in_range(KernelSizes) const override { return true; }

  double physics(KernelSizes sizes, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t variant) const override {
    const auto at = [&](ScanParameter p) { return parameters[static_cast<std::size_t>(p)]; };
    const LinearCase c = LinearCase::of(sizes);
    const double chunks = std::ceil(c.tokens / kChunk);
    const double waves = variant == 0 ? blend(1, c.states() / gpu.sms, at(ScanParameter::waves))
                                      : std::ceil(c.states() / (gpu.sms * kHeadsOfSm[variant]));
    const double chain =
        (at(ScanParameter::c0) + at(ScanParameter::c1) * std::min(c.tokens, kChunk) +
         at(ScanParameter::c2) * chunks) *
        waves;
    const double compute = chunked_flops(c, chunks) / (at(ScanParameter::peak) * gpu.peak);
    const double between = 2 * c.states() * chunks * c.key_dim * c.value_dim;
    const double moved = at(ScanParameter::passes) * c.activations() +
                         at(ScanParameter::states) * between + c.held();
    const double memory = warm_memory_time({.kept = c.activations(), .moved = moved},
                                           {.memory = kMemoryShare,
                                            .l2_speed = at(ScanParameter::l2_speed),
                                            .l2_share = at(ScanParameter::l2_share),
                                            .l2_corner = at(ScanParameter::l2_corner)},
                                           gpu);
    return at(ScanParameter::t0) + blend(chain, blend(compute, memory, at(ScanParameter::corner)),
                                         at(ScanParameter::sharpness));
  }

  SurfaceRow surface(KernelSizes sizes, const GpuSheet& gpu) const override {
    static const std::vector<double> by_heads{-7, -3, -1, 0, 1, 2, 3, 5};
    static const std::vector<double> by_tokens{0, 3, 5, 6, 7, 8, 10, 12, 15};
    const LinearCase c = LinearCase::of(sizes);
    return tensor(hat_weights(log2_of(c.states() / gpu.sms), by_heads),
                  hat_weights(log2_of(c.tokens), by_tokens), 9);
  }
  int surface_columns() const override { return 8 * 9; }

 private:
  static constexpr double kMemoryShare = 0.85;  // of the memory's rate; passes have the rest
};

}  // namespace

const KernelForm& scan_form() {
  static const ScanForm form;
  return form;
}

}  // namespace tiersim
