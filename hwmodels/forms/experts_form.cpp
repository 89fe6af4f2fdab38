#include "hwmodels/forms/experts_form.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hwmodels/forms/blend.hpp"
#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr std::array<FormSize, 10> kExpertsSizes{
    FormSize{"tokens", "Tokens of all GPUs of the expert-parallel group."},
    {"hidden", "Width of a token."},
    {"intermediate", "Width of an expert on this GPU."},
    {"top_k", "Experts of a token."},
    {"experts", "Experts of all GPUs of the group."},
    {"expert_parallel", "GPUs of the group, each with its share of the experts."},
    {"gated", "1 where an expert has a gate beside its up projection, else 0."},
    {"weight_bytes", "Bytes of an element of the weights, with its share of the scales."},
    {"input_bytes", "Bytes of an element of the input of a product."},
    {"skew", "Exponent of the power law of the loads of experts; 0 where they are balanced."}};

enum class ExpertsParameter : std::size_t {
  t0,         // shortest time [s]
  memory,     // share of the memory's rate
  peak,       // share of the peak in a tile without an end
  edge,       // loss of tiles by 64 over their rows
  wave,       // share of a wave that its missing tiles cost
  sharpness,  // p
  rows,       // passes over the rows of the experts
  tokens,     // passes over the tokens
  local,      // time of an expert of this GPU [s]
  expert,     // time of an expert of any GPU [s]
  pair,       // time of a pair of token and expert [s]
  l2_speed,   // rate of L2 over that of memory
  l2_end,     // active weights over L2 from which none is found there
  reread,     // share of L2 that keeps the weights of a product for its next tile
  stream,     // rate of a block over its share of the memory's rate
};
constexpr std::array<FormParameter, 15> kExpertsParameters{FormParameter{"t0", 2e-5, 1e-6, 3e-4},
                                                           {"memory", 0.85, 0.05, 1.2},
                                                           {"peak", 0.7, 0.02, 1.2},
                                                           {"edge", 0.3, 0.005, 10},
                                                           {"wave", 0.7, 0.02, 1},
                                                           {"sharpness", 2, 1, 8},
                                                           {"rows", 2, 0.01, 30},
                                                           {"tokens", 2, 0.01, 100},
                                                           {"local", 2e-8, 1e-11, 2e-6},
                                                           {"expert", 1e-8, 1e-11, 2e-6},
                                                           {"pair", 3e-10, 1e-13, 1e-8},
                                                           {"l2_speed", 2, 1, 10},
                                                           {"l2_end", 1.1, 0.8, 3},
                                                           {"reread", 0.5, 0.05, 10},
                                                           {"stream", 2, 0.3, 20}};
constexpr std::array<std::string_view, 4> kExpertsVariants{"fastest tile", "fastest tile, all rows",
                                                           "tile by mean", "contiguous, 128 rows"};
enum class ExpertsVariant : std::uint8_t { fastest, fastest_all_rows, by_mean, contiguous };

constexpr double kColumns = 128;     // of a tile
constexpr double kLeastHit = 0.8;    // of l2_end, below which all active weights are in L2
constexpr double kLargestMean = 64;  // rows of the tile by mean
constexpr double kRowsOfEdge = 64;
constexpr std::size_t kContiguousTile = 4;                // of kExpertTiles: 128 rows
constexpr std::size_t kFirstLoad = kExpertsSizes.size();  // among the features

double up_to(double size, double multiple) {
  return std::ceil(size / multiple) * multiple;
}

std::vector<double> features_of(KernelSizes sizes, const ExpertLoads& loads) {
  std::vector<double> out(sizes.begin(), sizes.end());
  out.push_back(loads.active);
  out.push_back(loads.rows);
  out.insert(out.end(), loads.tiles.begin(), loads.tiles.end());
  return out;
}

// A case with its loads, from the features of ExpertsForm.
struct LoadedCase {
  explicit LoadedCase(KernelSizes f)
      : c{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9]} {
    loads.active = f[kFirstLoad];
    loads.rows = f[kFirstLoad + 1];
    for (std::size_t i = 0; i < kExpertTiles.size(); ++i) loads.tiles[i] = f[kFirstLoad + 2 + i];
  }
  double local() const { return std::ceil(c.experts / c.expert_parallel); }
  double pairs() const { return c.tokens * c.top_k; }
  // Tiles that hold the rows of the experts for any choice of experts.
  double contiguous_tiles() const {
    const double rows = kExpertTiles[kContiguousTile];
    return std::ceil((pairs() + local() * (rows - 1)) / rows);
  }

  ExpertsCase c;
  ExpertLoads loads;
};

class ExpertsPhysics {
 public:
  ExpertsPhysics(const LoadedCase& loaded, const GpuSheet& gpu, std::span<const double> parameters,
                 ExpertsVariant variant)
      : c_(loaded.c),
        loads_(loaded.loads),
        loaded_(loaded),
        gpu_(gpu),
        parameters_(parameters),
        variant_(variant),
        width_(variant == ExpertsVariant::by_mean ? up_to(c_.intermediate, kColumns)
                                                  : c_.intermediate) {}

  double time() const { return at(ExpertsParameter::t0) + products() + rest(); }

 private:
  double at(ExpertsParameter p) const { return parameters_[static_cast<std::size_t>(p)]; }

  double products() const {
    if (variant_ == ExpertsVariant::by_mean) return with_tile(tile_by_mean());
    if (variant_ == ExpertsVariant::contiguous) return with_tile(kContiguousTile);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t tile = 0; tile < kExpertTiles.size(); ++tile)
      least = std::min(least, with_tile(tile));
    return least;
  }

  std::size_t tile_by_mean() const {
    const double mean = loaded_.pairs() / loaded_.local();
    std::size_t tile = 0;
    while (kExpertTiles[tile] < kLargestMean && 2 * kExpertTiles[tile] < mean) ++tile;
    return tile;
  }

  double with_tile(std::size_t tile) const {
    double memory = 0;
    double compute = 0;
    add_product(tile, (1 + c_.gated) * width_, c_.hidden, memory, compute);
    add_product(tile, c_.hidden, width_, memory, compute);
    return blend(memory, compute, at(ExpertsParameter::sharpness));
  }

  void add_product(std::size_t tile, double columns, double depth, double& memory,
                   double& compute) const {
    const double rows = kExpertTiles[tile];
    const double tiles = loads_.tiles[tile];
    const double blocks = std::ceil(columns / kColumns) / gpu_.sms;  // of a row of tiles, a wave 1
    const bool contiguous = variant_ == ExpertsVariant::contiguous;
    const double full = (contiguous ? loaded_.contiguous_tiles() : tiles) * blocks;
    const double wave = at(ExpertsParameter::wave);
    const double waves = std::max(full + wave * (std::ceil(full) - full), wave);
    const double rate = at(ExpertsParameter::peak) * gpu_.peak / gpu_.sms;
    compute +=
        waves * 2 * kColumns * depth * (rows + at(ExpertsParameter::edge) * kRowsOfEdge) / rate;

    const double expert = columns * depth * c_.weight_bytes;
    const double kept = at(ExpertsParameter::reread) * gpu_.l2_bytes / expert;
    const double again = std::max(0.0, tiles - loads_.active) * std::max(0.0, 1 - kept);
    const double streaming = std::min(1.0, at(ExpertsParameter::stream) * loads_.active * blocks);
    memory += expert * (loads_.active * slower_than_l2() + again) /
              (streaming * at(ExpertsParameter::memory) * gpu_.memory);
  }

  // Time of the active weights over that of reading all from memory.
  double slower_than_l2() const {
    if (gpu_.warm * gpu_.l2_bytes <= 0) return 1;
    const double weights = loads_.active * (2 + c_.gated) * c_.hidden * width_ * c_.weight_bytes;
    const double end = at(ExpertsParameter::l2_end);
    const double hit = std::clamp(
        (end - weights / (gpu_.warm * gpu_.l2_bytes)) / ((1 - kLeastHit) * end), 0.0, 1.0);
    return 1 - hit + hit / at(ExpertsParameter::l2_speed);
  }

  // Rows that the kernels around the products go over.
  double handled_rows() const {
    switch (variant_) {
      case ExpertsVariant::fastest_all_rows:
        return loaded_.pairs();
      case ExpertsVariant::contiguous:
        return loaded_.contiguous_tiles() * kExpertTiles[kContiguousTile];
      default:
        return loads_.rows;
    }
  }

  // The kernels around the products.
  double rest() const {
    const double row =
        (2 + c_.input_bytes) * c_.hidden + (2 * (1 + c_.gated) + c_.input_bytes) * c_.intermediate;
    return (at(ExpertsParameter::rows) * handled_rows() * row +
            at(ExpertsParameter::tokens) * c_.tokens * c_.hidden * 2) /
               gpu_.memory +
           at(ExpertsParameter::local) * loaded_.local() +
           at(ExpertsParameter::expert) * c_.experts + at(ExpertsParameter::pair) * loaded_.pairs();
  }

  const ExpertsCase& c_;
  const ExpertLoads& loads_;
  const LoadedCase& loaded_;
  const GpuSheet& gpu_;
  std::span<const double> parameters_;
  ExpertsVariant variant_;
  double width_;  // of an expert, as the kernels pad it
};

class ExpertsForm final : public KernelForm {
 public:
  std::string_view name() const override { return "experts"; }
  std::span<const FormSize> sizes() const override { return kExpertsSizes; }
  std::span<const FormParameter> parameters() const override { return kExpertsParameters; }
  std::span<const std::string_view> variants() const override { return kExpertsVariants; }

  bool in_range(KernelSizes s) const override {
    const auto within = [](double size) { return size >= 32 && size <= 65536; };
    return s[0] >= 1 && s[0] <= 32768 && within(s[1]) && within(s[2]) && s[3] >= 1 &&
           s[3] <= s[4] && s[4] <= 1024 && s[5] >= 1 && s[5] <= s[4];
  }

  // The sizes, then the loads.
  std::vector<double> features(KernelSizes s) const override {
    const ExpertLoads loads =
        expert_loads({.tokens = s[0], .top_k = s[3], .experts = s[4], .ranks = s[5], .skew = s[9]});
    return features_of(s, loads);
  }

  double physics(KernelSizes features, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t variant) const override {
    const LoadedCase loaded(features);
    return ExpertsPhysics(loaded, gpu, parameters, static_cast<ExpertsVariant>(variant)).time();
  }

  // Tokens and experts of the GPU, and beside it rows of an expert and size of an expert.
  SurfaceRow surface(KernelSizes features, const GpuSheet&) const override {
    static const std::vector<double> by_tokens{0, 3, 5, 7, 9, 11, 14};
    static const std::vector<double> by_local{0, 4, 8};
    static const std::vector<double> by_rows{0, 2, 4, 6, 8, 11};
    static const std::vector<double> by_expert{18, 21, 24, 26};
    const LoadedCase loaded(features);
    const ExpertsCase& c = loaded.c;
    SurfaceRow row = tensor(hat_weights(log2_of(c.tokens), by_tokens),
                            hat_weights(log2_of(loaded.local()), by_local), 3);
    SurfaceRow beside =
        tensor(hat_weights(log2_of(loaded.loads.rows / loaded.loads.active), by_rows),
               hat_weights(log2_of(c.hidden * c.intermediate), by_expert), 4);
    for (auto& [column, weight] : beside) row.add(column + 7 * 3, weight);
    return row;
  }
  int surface_columns() const override { return 7 * 3 + 6 * 4; }
};

}  // namespace

std::vector<double> experts_features(const ExpertsCase& layer, const ExpertLoads& loads) {
  return features_of(layer.sizes(), loads);
}

const KernelForm& experts_form() {
  static const ExpertsForm form;
  return form;
}

}  // namespace tiersim
