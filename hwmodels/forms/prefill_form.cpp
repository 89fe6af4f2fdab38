#include "hwmodels/forms/prefill_form.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hwmodels/forms/blend.hpp"

namespace tiersim {
namespace {

constexpr std::array<FormSize, 8> kPrefillSizes{
    FormSize{"batch", "Sequences."},
    {"kv_heads", "Heads of keys and values."},
    {"group", "Query heads that share a head of keys and values."},
    {"head_dim", "Width of a head."},
    {"tokens", "New tokens of a sequence."},
    {"prefix", "Positions before them in the cache."},
    {"window", "Positions of a sliding window; 0 where there is none."},
    {"kv_bytes", "Bytes of an element of the cache."}};

enum class PrefillParameter : std::size_t {
  t0,            // shortest time [s]
  c0,            // time of a tile beside its operations [s]
  peak,          // share of the peak
  pad,           // positions that a tile takes beyond those that count
  waves,         // w
  tail,          // length of the longest tile
  tail_corner,   // sharpness between all operations and the longest tile
  sharpness,     // p
  kv_passes,     // over keys and values
  query_passes,  // over queries and results
  row,           // preparation of a sequence [s]
};
constexpr std::array<FormParameter, 11> kPrefillParameters{FormParameter{"t0", 1e-5, 5e-7, 8e-5},
                                                           {"c0", 1e-6, 5e-9, 6e-5},
                                                           {"peak", 0.6, 0.02, 1},
                                                           {"pad", 64, 1, 600},
                                                           {"waves", 1.5, 0.8, 6},
                                                           {"tail", 1, 0.05, 20},
                                                           {"tail_corner", 2, 0.8, 6},
                                                           {"sharpness", 1.5, 1, 8},
                                                           {"kv_passes", 0.8, 0.02, 80},
                                                           {"query_passes", 0.5, 0.01, 80},
                                                           {"row", 1e-6, 2e-8, 2e-5}};

struct QueryTile {
  double height = 128;
  bool shared = false;  // by the query heads of a group
};
constexpr std::array<QueryTile, 6> kQueryTiles{QueryTile{64, false}, {128, false}, {256, false},
                                               {64, true},           {128, true},  {256, true}};
constexpr std::array<std::string_view, 6> kPrefillVariants{
    "64 rows",          "128 rows",          "256 rows",
    "64 rows of group", "128 rows of group", "256 rows of group"};

PrefillCase prefill_case_of(KernelSizes s) {
  return {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]};
}

// Positions that the new tokens of a sequence attend to, in the mean of a token.
double attended(const PrefillCase& c) {
  const auto pairs = [&](double positions) {
    if (c.window <= 0 || positions <= c.window) return positions * (positions + 1) / 2;
    return c.window * (c.window + 1) / 2 + (positions - c.window) * c.window;
  };
  return (pairs(c.prefix + c.tokens) - pairs(c.prefix)) / c.tokens;
}

class PrefillForm final : public KernelForm {
 public:
  std::string_view name() const override { return "prefill_attention"; }
  std::span<const FormSize> sizes() const override { return kPrefillSizes; }
  std::span<const FormParameter> parameters() const override { return kPrefillParameters; }
  std::span<const std::string_view> variants() const override { return kPrefillVariants; }
  bool in_range(KernelSizes sizes) const override { return sizes[4] <= 32768; }

  double physics(KernelSizes sizes, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t variant) const override {
    const auto at = [&](PrefillParameter p) { return parameters[static_cast<std::size_t>(p)]; };
    const PrefillCase c = prefill_case_of(sizes);
    const QueryTile tile = kQueryTiles[variant];
    const double tiles = tile.shared
                             ? c.batch * c.kv_heads * std::ceil(c.tokens * c.group / tile.height)
                             : c.batch * c.heads() * std::ceil(c.tokens / tile.height);
    const double pad = at(PrefillParameter::pad);
    const double all = c.prefix + c.tokens;
    const double longest = c.window > 0 ? std::min(all, c.window + tile.height) : all;
    const double rate = at(PrefillParameter::peak) * gpu.peak;
    const double per_position = 4 * c.head_dim * tile.height;
    const double compute =
        blend(per_position * tiles * (attended(c) + pad) / rate,
              at(PrefillParameter::tail) * per_position * (longest + pad) / (rate / gpu.sms),
              at(PrefillParameter::tail_corner));
    const double waves = blend(1, tiles / gpu.sms, at(PrefillParameter::waves));
    const double kept = c.window > 0 ? std::min(all, c.tokens + c.window) : all;
    const double cache = 2 * c.batch * c.kv_heads * kept * c.head_dim * c.kv_bytes;
    const double queries = 4 * c.batch * c.heads() * c.tokens * c.head_dim;
    const double memory =
        (at(PrefillParameter::kv_passes) * cache + at(PrefillParameter::query_passes) * queries) /
        gpu.memory;
    return at(PrefillParameter::t0) + at(PrefillParameter::c0) * waves +
           blend(compute, memory, at(PrefillParameter::sharpness)) +
           at(PrefillParameter::row) * c.batch / gpu.sms;
  }

  SurfaceRow surface(KernelSizes sizes, const GpuSheet& gpu) const override {
    static const std::vector<double> by_heads{-7, -4, -2, 0, 2, 5, 8};
    static const std::vector<double> by_tokens{0, 4, 6, 8, 9.6, 11, 14};
    static const std::vector<double> by_group{0, 3, 6};
    const PrefillCase c = prefill_case_of(sizes);
    const SurfaceRow of_work = tensor(hat_weights(log2_of(c.batch * c.heads() / gpu.sms), by_heads),
                                      hat_weights(log2_of(c.tokens), by_tokens), 7);
    return tensor(of_work, hat_weights(log2_of(c.group), by_group), 3);
  }
  int surface_columns() const override { return 7 * 7 * 3; }
};

}  // namespace

const KernelForm& prefill_form() {
  static const PrefillForm form;
  return form;
}

}  // namespace tiersim
