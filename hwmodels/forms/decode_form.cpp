#include "hwmodels/forms/decode_form.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hwmodels/forms/blend.hpp"

namespace tiersim {
namespace {

constexpr std::array<FormSize, 7> kDecodeSizes{
    FormSize{"batch", "Sequences."},
    {"kv_heads", "Heads of keys and values."},
    {"group", "Query heads that share a head of keys and values."},
    {"head_dim", "Width of a head."},
    {"context", "Positions in the cache of a sequence."},
    {"window", "Positions of a sliding window; 0 where there is none."},
    {"kv_bytes", "Bytes of an element of the cache."}};

enum class DecodeParameter : std::size_t {
  t0,          // shortest time [s]
  c0,          // time of a block beside its bytes [s]
  cg,          // the part of it for each query head [s]
  stream,      // rate of one block [B/s]
  memory,      // share of the memory's rate
  l2_speed,    // rate of L2 over that of memory
  l2_share,    // share of L2 that the cache can hold
  sharpness,   // p
  row,         // preparation of a sequence [s]
  head_row,    // preparation of a sequence and head [s]
  max_splits,  // of a block
  unplanned,   // factor on work above 512 sequences
  waves,       // w
};
constexpr std::array<FormParameter, 13> kDecodeParameters{FormParameter{"t0", 9e-6, 5e-7, 6e-5},
                                                          {"c0", 2e-6, 1e-8, 6e-5},
                                                          {"cg", 5e-8, 1e-10, 5e-6},
                                                          {"stream", 5e10, 1e9, 1e13},
                                                          {"memory", 0.8, 0.1, 1.2},
                                                          {"l2_speed", 3, 0.3, 40},
                                                          {"l2_share", 0.5, 0.05, 3},
                                                          {"sharpness", 3, 1, 8},
                                                          {"row", 5e-7, 1e-10, 5e-5},
                                                          {"head_row", 5e-8, 1e-12, 1e-5},
                                                          {"max_splits", 32, 1.5, 300},
                                                          {"unplanned", 1, 0.3, 2},
                                                          {"waves", 1.4, 0.8, 6}};
constexpr std::array<std::string_view, 2> kDecodeVariants{"groups", "heads"};
constexpr double kPlanned = 512;  // sequences
constexpr double kRowsOfTile = 64;
constexpr double kShortestPiece = 128;  // positions

double blocks_of(const DecodeCase& c, std::size_t variant) {
  if (variant == 1) return c.batch * c.heads();
  return c.batch * c.kv_heads * std::ceil(c.group / kRowsOfTile);
}

DecodeCase case_of(KernelSizes s) {
  return {s[0], s[1], s[2], s[3], s[4], s[5], s[6]};
}

class DecodeForm final : public KernelForm {
 public:
  std::string_view name() const override { return "decode_attention"; }
  std::span<const FormSize> sizes() const override { return kDecodeSizes; }
  std::span<const FormParameter> parameters() const override { return kDecodeParameters; }
  std::span<const std::string_view> variants() const override { return kDecodeVariants; }
  bool in_range(KernelSizes sizes) const override { return sizes[4] <= 131072; }

  double physics(KernelSizes sizes, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t variant) const override {
    const auto at = [&](DecodeParameter p) { return parameters[static_cast<std::size_t>(p)]; };
    const DecodeCase c = case_of(sizes);
    const double blocks = blocks_of(c, variant);
    const double length = c.window > 0 ? std::min(c.context, c.window) : c.context;
    const double reached = c.window > 0 && c.context > c.window ? c.window + 64 : c.context;
    const double position = 2 * c.head_dim * c.kv_bytes;
    const double cached = c.batch * c.kv_heads * length * position;
    const double activations = 4 * c.batch * c.heads() * c.head_dim;
    const double most =
        std::min(at(DecodeParameter::max_splits), std::max(1.0, reached / kShortestPiece));
    const double splits = std::clamp(gpu.sms / blocks, 1.0, most);
    const double waves = blend(1, blocks * splits / gpu.sms, at(DecodeParameter::waves));
    const double queries = variant == 1 ? 1 : std::max(1.0, c.group);
    double work = (at(DecodeParameter::c0) + at(DecodeParameter::cg) * queries) * waves;
    double prepare = 0;
    if (c.batch > kPlanned)
      work *= at(DecodeParameter::unplanned);
    else
      prepare = (at(DecodeParameter::row) * c.batch +
                 at(DecodeParameter::head_row) * c.batch * c.heads()) /
                gpu.sms;
    const double chain = length * position / splits / at(DecodeParameter::stream);
    const double in_l2 = at(DecodeParameter::l2_share) * gpu.warm * gpu.l2_bytes / cached;
    const double missed = 1 - std::min(1.0, in_l2 * in_l2);
    const double p = at(DecodeParameter::sharpness);
    const double memory =
        blend(blocks * length * position / (at(DecodeParameter::l2_speed) * gpu.memory),
              (cached * missed + activations) / (at(DecodeParameter::memory) * gpu.memory), p);
    return at(DecodeParameter::t0) + work + blend(chain, memory, p) + prepare;
  }

  SurfaceRow surface(KernelSizes sizes, const GpuSheet& gpu) const override {
    static const std::vector<double> by_blocks{-7, -3, -1, 0, 1, 3, 6};
    static const std::vector<double> by_context{1, 6, 8, 10, 13, 17};
    const DecodeCase c = case_of(sizes);
    return tensor(hat_weights(log2_of(blocks_of(c, 0) / gpu.sms), by_blocks),
                  hat_weights(log2_of(c.context), by_context), 6);
  }
  int surface_columns() const override { return 7 * 6; }
};

}  // namespace

const KernelForm& decode_form() {
  static const DecodeForm form;
  return form;
}

}  // namespace tiersim
