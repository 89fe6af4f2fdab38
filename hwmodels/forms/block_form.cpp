#include "hwmodels/forms/block_form.hpp"

#include <algorithm>
#include <array>

#include "hwmodels/forms/blend.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr double kBlockScores = 1;  // parts
constexpr double kBlockChoice = 2;
constexpr double kBlockRows = 3;
constexpr double kBlockWidth = 128;      // of a head, and of an index head
constexpr double kBlockPositions = 128;  // of a block
constexpr double kIndexKeyBytes = 256;
constexpr double kRooflineCorner = 3;  // of scores and rows
constexpr double kModuleKernels = 12;  // about: a part has this share of its shortest time

constexpr std::array<FormSize, 10> kBlockSizes{
    FormSize{"part", "0: the whole module; 1: scores; 2: choice; 3: attention."},
    {"sequences", "Sequences."},
    {"tokens", "New tokens of a sequence."},
    {"before", "Positions before them."},
    {"heads", "Query heads."},
    {"kv_heads", "KV heads, each with an index head."},
    {"top_k", "Positions that a query attends to."},
    {"weights", "Elements of the matrices of all products."},
    {"weight_bytes", "Bytes of such an element."},
    {"kv_bytes", "Bytes of an element of the cache."}};

enum class BlockParameter : std::size_t {
  t0,         // shortest time [s]
  memory,     // share of the memory's rate that products reach
  peak,       // share of the peak that products reach
  corner,     // p
  row,        // time of a token in small kernels, on an SM [s]
  scores,     // share of the bf16 peak that the indexer reaches
  keys,       // share of the memory's rate at which index keys are read
  choice,     // time of a score of a block, on an SM [s]
  rows,       // share of the memory's rate at which keys and values are read
  slot,       // time of a position of a token and KV head, on an SM [s]
  l2_speed,   // rate of L2 over that of memory
  l2_share,   // share of L2 that holds what the repetition before read
  l2_corner,  // how sharply it falls out of it
  single,     // time of a position and its score for a single KV head, on an SM [s]
};
constexpr std::array<FormParameter, 14> kBlockParameters{FormParameter{"t0", 3e-5, 5e-6, 4e-3},
                                                         {"memory", 0.7, 0.05, 1},
                                                         {"peak", 0.5, 0.02, 1},
                                                         {"corner", 1.5, 1, 8},
                                                         {"row", 1e-6, 1e-9, 1e-4},
                                                         {"scores", 0.2, 0.001, 1},
                                                         {"keys", 0.7, 0.01, 1},
                                                         {"choice", 1e-9, 1e-12, 1e-6},
                                                         {"rows", 0.7, 0.05, 1},
                                                         {"slot", 5e-9, 1e-11, 1e-6},
                                                         {"l2_speed", 3, 1, 8},
                                                         {"l2_share", 0.5, 0.05, 1},
                                                         {"l2_corner", 4, 1, 32},
                                                         {"single", 5e-9, 1e-12, 1e-6}};

constexpr std::size_t kAloneVariant = 1;
constexpr std::size_t kSingleVariant = 2;
constexpr std::array<std::string_view, 3> kBlockVariants{
    "shared positions", "one block of threads a token", "shared positions, one KV head apart"};

BlockCase block_case_of(KernelSizes s) {
  return {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]};
}

double value_of(std::span<const double> parameters, BlockParameter p) {
  return parameters[static_cast<std::size_t>(p)];
}

double key_bytes(const BlockCase& c) {
  return kIndexKeyBytes * c.sequences * c.context();
}
double row_bytes(const BlockCase& c) {
  const double read = c.tokens > 1 ? c.context() : c.attended();
  return 2 * kBlockWidth * c.kv_bytes * c.sequences * c.kv_heads * read;
}

// Rate of the memory, with what a benchmark finds in L2 [B/s].
double memory_rate(const BlockCase& c, const GpuSheet& gpu, std::span<const double> p) {
  const double kept = c.weights * c.weight_bytes + key_bytes(c) + row_bytes(c);
  const double held = value_of(p, BlockParameter::l2_share) * gpu.warm * gpu.l2_bytes;
  if (held <= 0) return gpu.memory;
  const double found =
      held >= kept
          ? 1
          : portable_exp(value_of(p, BlockParameter::l2_corner) * portable_log(held / kept));
  const double missed = 1 - found;
  return gpu.memory / (missed + (1 - missed) / value_of(p, BlockParameter::l2_speed));
}

// Peaks of fp8 are twice those of bf16, of fp4 four times.
double bf16_peak(const BlockCase& c, const GpuSheet& gpu) {
  return c.weight_bytes < 1 ? gpu.peak / 4 : c.weight_bytes < 2 ? gpu.peak / 2 : gpu.peak;
}

double score_time(const BlockCase& c, const GpuSheet& gpu, std::span<const double> p,
                  std::size_t variant) {
  if (variant == kSingleVariant && c.kv_heads == 1)
    return value_of(p, BlockParameter::single) * c.pairs() / gpu.sms;
  const double compute = 2 * c.pairs() * c.kv_heads * kBlockWidth /
                         (value_of(p, BlockParameter::scores) * bf16_peak(c, gpu));
  const double keys = key_bytes(c) / (value_of(p, BlockParameter::keys) * memory_rate(c, gpu, p));
  return blend(compute, keys, kRooflineCorner);
}

double choice_time(const BlockCase& c, const GpuSheet& gpu, std::span<const double> p) {
  if (c.context() <= c.top_k) return 0;
  return value_of(p, BlockParameter::choice) * c.kv_heads * c.pairs() / kBlockPositions / gpu.sms;
}

double rows_time(const BlockCase& c, const GpuSheet& gpu, std::span<const double> p,
                 std::size_t variant) {
  const double programs = c.queries() * c.kv_heads / gpu.sms;
  const double waves = variant != kAloneVariant ? programs : blend(1, programs, kRooflineCorner);
  return blend(row_bytes(c) / (value_of(p, BlockParameter::rows) * memory_rate(c, gpu, p)),
               value_of(p, BlockParameter::slot) * c.attended() * waves, kRooflineCorner);
}

class BlockForm final : public KernelForm {
 public:
  std::string_view name() const override { return "block_attention"; }
  std::span<const FormSize> sizes() const override { return kBlockSizes; }
  std::span<const FormParameter> parameters() const override { return kBlockParameters; }
  std::span<const std::string_view> variants() const override { return kBlockVariants; }
  bool in_range(KernelSizes) const override { return true; }

  double physics(KernelSizes sizes, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t variant) const override {
    const BlockCase c = block_case_of(sizes);
    const auto at = [&](BlockParameter p) { return value_of(parameters, p); };
    const double t0 = at(BlockParameter::t0);
    if (c.part == kBlockScores)
      return t0 / kModuleKernels + score_time(c, gpu, parameters, variant);
    if (c.part == kBlockChoice) return t0 / kModuleKernels + choice_time(c, gpu, parameters);
    if (c.part == kBlockRows) return t0 / kModuleKernels + rows_time(c, gpu, parameters, variant);
    const double products = blend(
        c.weights * c.weight_bytes / (at(BlockParameter::memory) * memory_rate(c, gpu, parameters)),
        2 * c.queries() * c.weights / (at(BlockParameter::peak) * gpu.peak),
        at(BlockParameter::corner));
    return t0 + products + at(BlockParameter::row) * c.queries() / gpu.sms +
           score_time(c, gpu, parameters, variant) + choice_time(c, gpu, parameters) +
           rows_time(c, gpu, parameters, variant);
  }

  SurfaceRow surface(KernelSizes sizes, const GpuSheet&) const override {
    static const std::vector<double> by_tokens{0, 3, 5, 6, 7, 8, 10, 13, 16};
    static const std::vector<double> by_context{1, 7, 10, 11, 12, 14, 17};
    static const std::vector<double> by_heads{0, 4, 7};
    const BlockCase c = block_case_of(sizes);
    const SurfaceRow of_work = tensor(hat_weights(log2_of(c.queries()), by_tokens),
                                      hat_weights(log2_of(c.context()), by_context), 7);
    return tensor(of_work, hat_weights(log2_of(c.heads), by_heads), 3);
  }
  int surface_columns() const override { return 9 * 7 * 3; }
};

}  // namespace

// The first top_k tokens of a sequence see fewer positions.
double BlockCase::attended() const {
  const double seen_by_first = before + 1;
  if (seen_by_first >= top_k) return top_k;
  const double growing = std::min(tokens, top_k - before);
  return (growing * (before + (growing + 1) / 2) + (tokens - growing) * top_k) / tokens;
}

const KernelForm& block_form() {
  static const BlockForm form;
  return form;
}

}  // namespace tiersim
