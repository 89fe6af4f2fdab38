#include "hwmodels/forms/conv_form.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hwmodels/forms/blend.hpp"
#include "hwmodels/forms/warm_memory.hpp"

namespace tiersim {
namespace {

constexpr double kChannels = 256;  // of a block

constexpr std::array<FormSize, 5> kConvSizes{
    FormSize{"sequences", "Sequences."},
    {"tokens", "New tokens of a sequence."},
    {"decode", "1: by the kernel of a decode step; 0: by that of a prompt."},
    {"channels", "Channels: widths of queries, keys and values."},
    {"taps", "Positions under the convolution."}};

enum class ConvParameter : std::size_t {
  t0,         // shortest time [s]
  c0,         // time of a block beside its bytes [s]
  c1,         // the part of it for each token [s]
  resident,   // blocks side by side on an SM
  waves,      // w
  memory,     // share of the memory's rate
  l2_speed,   // rate of L2 over that of memory
  l2_share,   // share of L2 that holds inputs and results
  l2_corner,  // how sharply they fall out of it
  sharpness,  // p
};
constexpr std::array<FormParameter, 10> kConvParameters{FormParameter{"t0", 2e-6, 5e-7, 3e-5},
                                                        {"c0", 3e-7, 1e-9, 1e-5},
                                                        {"c1", 1e-7, 1e-10, 5e-6},
                                                        {"resident", 4, 0.25, 64},
                                                        {"waves", 2, 0.8, 8},
                                                        {"memory", 0.7, 0.1, 1.2},
                                                        {"l2_speed", 2, 0.3, 40},
                                                        {"l2_share", 0.8, 0.05, 3},
                                                        {"l2_corner", 2, 0.5, 12},
                                                        {"sharpness", 2, 1, 8}};
constexpr std::array<double, 3> kConvTiles{8, 64, 1024};  // tokens of a block
constexpr std::array<std::string_view, 3> kConvVariants{"8 tokens", "64 tokens", "1024 tokens"};

ConvCase conv_case_of(KernelSizes s) {
  return {s[0], s[1], s[2], s[3], s[4]};
}

double blocks_of(const ConvCase& c, double tile) {
  return c.sequences * std::ceil(c.tokens / tile) * std::ceil(c.channels / kChannels);
}

class ConvForm final : public KernelForm {
 public:
  std::string_view name() const override { return "causal_conv"; }
  std::span<const FormSize> sizes() const override { return kConvSizes; }
  std::span<const FormParameter> parameters() const override { return kConvParameters; }
  std::span<const std::string_view> variants() const override { return kConvVariants; }
  bool in_range(KernelSizes) const override { return true; }

  double physics(KernelSizes sizes, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t variant) const override {
    const auto at = [&](ConvParameter p) { return parameters[static_cast<std::size_t>(p)]; };
    const ConvCase c = conv_case_of(sizes);
    const double tile = kConvTiles[variant];
    const double side_by_side = gpu.sms * at(ConvParameter::resident);
    const double work = (at(ConvParameter::c0) + at(ConvParameter::c1) * std::min(c.tokens, tile)) *
                        blend(1, blocks_of(c, tile) / side_by_side, at(ConvParameter::waves));
    const double read = c.decode > 0 ? c.held() : 0;
    const double bytes = c.activations() + c.held() + read;
    const double memory = warm_memory_time({.kept = bytes - read, .moved = bytes},
                                           {.memory = at(ConvParameter::memory),
                                            .l2_speed = at(ConvParameter::l2_speed),
                                            .l2_share = at(ConvParameter::l2_share),
                                            .l2_corner = at(ConvParameter::l2_corner)},
                                           gpu);
    return at(ConvParameter::t0) + blend(work, memory, at(ConvParameter::sharpness));
  }

  SurfaceRow surface(KernelSizes sizes, const GpuSheet& gpu) const override {
    static const std::vector<double> by_blocks{-7, -4, -2, 0, 1, 2, 3, 4, 5, 6, 8, 11, 14};
    static const std::vector<double> by_tokens{0, 1, 2, 3, 5};
    const ConvCase c = conv_case_of(sizes);
    return tensor(hat_weights(log2_of(blocks_of(c, kConvTiles[0]) / gpu.sms), by_blocks),
                  hat_weights(log2_of(c.tokens), by_tokens), 5);
  }
  int surface_columns() const override { return 13 * 5; }
};

}  // namespace

const KernelForm& conv_form() {
  static const ConvForm form;
  return form;
}

}  // namespace tiersim
