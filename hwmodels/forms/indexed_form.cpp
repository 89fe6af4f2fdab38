#include "hwmodels/forms/indexed_form.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hwmodels/forms/blend.hpp"

namespace tiersim {
namespace {

constexpr double kScores = 1;  // parts
constexpr double kChoice = 2;
constexpr double kAttention = 3;
constexpr double kIndexWidth = 128;
constexpr double kIndexScale = 4;     // bytes of the scale of an index key
constexpr double kMemoryShare = 0.8;  // of the memory's rate, of reading index keys
constexpr double kScoresCorner = 3;
constexpr double kKernels = 25;  // of a module, about: a part has this share of its shortest time

constexpr std::array<FormSize, 10> kIndexedSizes{
    FormSize{"part", "0: the whole module; 1: scores; 2: choice; 3: attention."},
    {"sequences", "Sequences."},
    {"tokens", "New tokens of a sequence."},
    {"before", "Positions before them."},
    {"heads", "Query heads."},
    {"index_heads", "Heads of the indexer."},
    {"top_k", "Positions that a query attends to."},
    {"weights", "Elements of the matrices of all products."},
    {"weight_bytes", "Bytes of such an element."},
    {"kv_bytes", "Bytes of an element of the cache."}};

enum class IndexedParameter : std::size_t {
  t0,      // shortest time [s]
  memory,  // share of the memory's rate that products reach
  peak,    // share of the peak that products reach
  corner,  // p
  scores,  // share of the fp8 peak that the indexer reaches
  choice,  // shortest time of the choice [s]
  passes,  // of the choice over the scores
  slot,    // time of a position of a block [s]
  waves,   // w
  row,     // time of a token in small kernels, on an SM [s]
};
constexpr std::array<FormParameter, 10> kIndexedParameters{FormParameter{"t0", 1e-4, 5e-6, 4e-3},
                                                           {"memory", 0.7, 0.05, 1},
                                                           {"peak", 0.4, 0.02, 1},
                                                           {"corner", 1.5, 1, 8},
                                                           {"scores", 0.3, 0.01, 1},
                                                           {"choice", 2e-5, 1e-7, 5e-3},
                                                           {"passes", 3, 0.1, 100},
                                                           {"slot", 5e-8, 1e-10, 1e-6},
                                                           {"waves", 2, 0.8, 8},
                                                           {"row", 1e-6, 1e-9, 1e-4}};

struct Slots {
  double resident = 0;  // blocks side by side on an SM; 0: smooth
  bool padded = false;
  double few = 64;  // query heads of a block where there are fewer than 64
  double many = 64;

  double blocks_of_token(double heads) const {
    return std::ceil(heads / (heads < 64 ? few : many));
  }
};
constexpr std::array<Slots, 18> kSlots{
    Slots{0, false},     {1, false},         {2, false},          {0, true},
    {1, true},           {2, true},          {0, false, 64, 128}, {1, false, 64, 128},
    {2, false, 64, 128}, {0, true, 64, 128}, {1, true, 64, 128},  {2, true, 64, 128},
    {0, false, 8, 32},   {1, false, 8, 32},  {2, false, 8, 32},   {0, true, 8, 32},
    {1, true, 8, 32},    {2, true, 8, 32}};
constexpr std::array<std::string_view, 18> kIndexedVariants{
    "smooth",
    "1 block of an SM",
    "2 blocks of an SM",
    "smooth, padded",
    "1 block of an SM, padded",
    "2 blocks of an SM, padded",
    "smooth, 128 heads",
    "1 block of an SM, 128 heads",
    "2 blocks of an SM, 128 heads",
    "smooth, padded, 128 heads",
    "1 block of an SM, padded, 128 heads",
    "2 blocks of an SM, padded, 128 heads",
    "smooth, 8 or 32 heads",
    "1 block of an SM, 8 or 32 heads",
    "2 blocks of an SM, 8 or 32 heads",
    "smooth, padded, 8 or 32 heads",
    "1 block of an SM, padded, 8 or 32 heads",
    "2 blocks of an SM, padded, 8 or 32 heads"};

IndexedCase indexed_case_of(KernelSizes s) {
  return {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]};
}

class IndexedForm final : public KernelForm {
 public:
  std::string_view name() const override { return "indexed_attention"; }
  std::span<const FormSize> sizes() const override { return kIndexedSizes; }
  std::span<const FormParameter> parameters() const override { return kIndexedParameters; }
  std::span<const std::string_view> variants() const override { return kIndexedVariants; }
  bool in_range(KernelSizes) const override { return true; }

  double physics(KernelSizes sizes, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t variant) const override {
    const IndexedCase c = indexed_case_of(sizes);
    const auto at = [&](IndexedParameter p) { return parameters[static_cast<std::size_t>(p)]; };
    const double t0 = at(IndexedParameter::t0);
    if (c.part == kScores) return t0 / kKernels + scores(c, gpu, parameters);
    if (c.part == kChoice) return t0 / kKernels + choice(c, gpu, parameters);
    if (c.part == kAttention) return t0 / kKernels + attention(c, gpu, parameters, variant);
    const double products =
        blend(c.weights * c.weight_bytes / (at(IndexedParameter::memory) * gpu.memory),
              2 * c.queries() * c.weights / (at(IndexedParameter::peak) * gpu.peak),
              at(IndexedParameter::corner));
    return t0 + products + at(IndexedParameter::row) * c.queries() / gpu.sms +
           scores(c, gpu, parameters) + choice(c, gpu, parameters) +
           attention(c, gpu, parameters, variant);
  }

  SurfaceRow surface(KernelSizes sizes, const GpuSheet&) const override {
    static const std::vector<double> by_tokens{0, 3, 5, 6, 7, 8, 10, 13, 16};
    static const std::vector<double> by_context{1, 7, 10, 11, 12, 14, 17};
    static const std::vector<double> by_heads{0, 4, 6, 7};
    const IndexedCase c = indexed_case_of(sizes);
    const SurfaceRow of_work = tensor(hat_weights(log2_of(c.queries()), by_tokens),
                                      hat_weights(log2_of(c.context()), by_context), 7);
    return tensor(of_work, hat_weights(log2_of(c.heads), by_heads), 4);
  }
  int surface_columns() const override { return 9 * 7 * 4; }

 private:
  static double at(std::span<const double> parameters, IndexedParameter p) {
    return parameters[static_cast<std::size_t>(p)];
  }
  // Peaks of fp8 are twice those of bf16, and a module of either scores in fp8.
  static double scores(const IndexedCase& c, const GpuSheet& gpu, std::span<const double> p) {
    const double fp8 = c.weight_bytes < 2 ? gpu.peak : 2 * gpu.peak;
    const double compute =
        2 * c.pairs() * c.index_heads * kIndexWidth / (at(p, IndexedParameter::scores) * fp8);
    const double keys = (kIndexWidth + kIndexScale) * c.sequences * c.context();
    return blend(compute, keys / (kMemoryShare * gpu.memory), kScoresCorner);
  }
  static double choice(const IndexedCase& c, const GpuSheet& gpu, std::span<const double> p) {
    if (c.context() <= c.top_k) return 0;
    return at(p, IndexedParameter::choice) +
           at(p, IndexedParameter::passes) * 4 * c.pairs() / gpu.memory;
  }
  static double attention(const IndexedCase& c, const GpuSheet& gpu, std::span<const double> p,
                          std::size_t variant) {
    const Slots kind = kSlots[variant];
    const double blocks = c.queries() * kind.blocks_of_token(c.heads);
    const double waves = kind.resident > 0
                             ? std::ceil(blocks / (gpu.sms * kind.resident))
                             : blend(1, blocks / gpu.sms, at(p, IndexedParameter::waves));
    const double attended = std::min(c.top_k, c.pairs() / c.queries());
    return at(p, IndexedParameter::slot) * (kind.padded ? c.top_k : attended) * waves;
  }
};

}  // namespace

const KernelForm& indexed_form() {
  static const IndexedForm form;
  return form;
}

}  // namespace tiersim
