#pragma once
// Early exit: a token leaves the decoder after the layer at which it is confident enough (Miao et
// al. 2024; Schuster et al. 2022, CALM).
//
//   technique   what confidence is computed from, after every layer
//     full          nothing: every token passes all layers
//     static_half   nothing: every token passes the first half of the layers, rounded up
//     softmax       the two largest probabilities: the LM head after each layer
//     state         cosine of the hidden states before and after the layer
//     classifier    a linear classifier on the hidden state
//   rule        what a batch does with tokens of different depth
//     all_rows      Algorithm 1: the batch leaves when all its tokens have been confident once
//     per_sequence  each sequence leaves alone; the others go on as a smaller batch
//     bucketed      sequences of like depth share a batch; each batch leaves when all of it may.
//                   Depths are taken as known before the step, which makes it a bound on what
//                   grouping by a predicted depth can give
//     parallel_fill each sequence leaves alone, and the keys and values of the layers that it
//                   skipped are made when the others pass these layers (Bae et al. 2023, FREE)
//
// Iterations that also read prompts run all layers for all.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

enum class ExitTechnique : std::uint8_t { full, static_half, softmax, state, classifier };
inline constexpr std::array<std::string_view, 5> kExitTechniqueNames{
    "full", "static_half", "softmax", "state", "classifier"};
/// Whether tokens leave by their confidence; the others all leave at the same layer.
constexpr bool measures(ExitTechnique technique) {
  return technique != ExitTechnique::full && technique != ExitTechnique::static_half;
}

enum class ExitRule : std::uint8_t { all_rows, per_sequence, bucketed, parallel_fill };
inline constexpr std::array<std::string_view, 4> kExitRuleNames{"all_rows", "per_sequence",
                                                                "bucketed", "parallel_fill"};

/// Depths that tokens would leave at, each alone: drawn (exit_depths.hpp has the distribution), or
/// those of a file.
struct ExitDepthConfig {
  std::optional<double> exit_rate = {};  ///< mean share of the layers that a token skips, 0 to 1
  double spread = 1;  ///< standard deviation before rounding and clipping to the layers, layers
  double correlation = 0;  ///< between the tokens of an iteration, 0 to 1 (Gaussian copula)
  /// Share of the exit rate that the first token of an answer lacks where thresholds decay over the
  /// answer (CALM, equation 5); the mean over the answer stays exit_rate. 0: no decay.
  double decay = 0;
  /// Instead of all these: depths by request, then token, of an imported `depth_trace`
  /// (depth_trace.hpp). Both are used again from their start when they end.
  std::vector<std::vector<std::int64_t>> traced = {};
};
void describe(Fields& f, ExitDepthConfig& c);

struct EarlyExitConfig {
  ExitTechnique technique = ExitTechnique::full;
  ExitRule rule = ExitRule::all_rows;
  std::optional<std::int64_t> buckets = {};    ///< batches under `bucketed`, 2 if not stated
  std::optional<ExitDepthConfig> depths = {};  ///< of a technique that measures; others have none
};
void describe(Fields& f, EarlyExitConfig& c);

/// The layer, from 1, after which every token leaves under a technique that does not measure.
std::int64_t fixed_depth(ExitTechnique technique, std::int64_t layers);

/// A setting that does not fit a decoder of so many layers, for the user to mend.
struct ExitProblem {
  std::string path;  ///< dotted, within the mapping of EarlyExitConfig
  std::string message;
  std::string hint;
};
/// `config` may be half read; empty when all is well.
std::vector<ExitProblem> exit_problems(const EarlyExitConfig& config, std::int64_t layers);

}  // namespace tiersim
