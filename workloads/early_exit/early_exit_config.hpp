#pragma once
// Early exit: a token leaves the decoder after the layer at which it is confident enough (Miao et
// al. 2024; Schuster et al. 2022, CALM).
//
//   technique   basis of the confidence, which is computed after every layer
//     full          none: every token passes all layers
//     static_half   none: every token passes the first half of the layers, rounded up
//     softmax       the two largest probabilities: the LM head after each layer
//     state         cosine of the hidden states before and after the layer
//     classifier    a linear classifier on the hidden state
//   rule        exit of a batch whose tokens have different depths
//     all_rows      Algorithm 1: the batch exits when all its tokens have been confident once
//     per_sequence  each sequence exits alone; the others go on as a smaller batch
//     bucketed      sequences of similar depth share a batch, which exits when all of it may.
//                   Depths are taken as known before the step, so this is a bound on the gain of
//                   grouping by a predicted depth
//     parallel_fill each sequence exits alone, and the keys and values of its skipped layers are
//                   made when the others pass these layers (Bae et al. 2023, FREE)
//
// Iterations that also read prompts run all layers for all sequences.
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
/// True where tokens exit by their confidence; otherwise all of them exit at the same layer.
constexpr bool measures(ExitTechnique technique) {
  return technique != ExitTechnique::full && technique != ExitTechnique::static_half;
}

enum class ExitRule : std::uint8_t { all_rows, per_sequence, bucketed, parallel_fill };
inline constexpr std::array<std::string_view, 4> kExitRuleNames{"all_rows", "per_sequence",
                                                                "bucketed", "parallel_fill"};

/// Depths at which tokens would exit alone: drawn (exit_depths.hpp has the distribution), or read
/// from a file.
struct ExitDepthConfig {
  std::optional<double> exit_rate = {};  ///< mean share of the layers that a token skips, 0 to 1
  double spread = 1;  ///< standard deviation before rounding and clipping to the layers, layers
  double correlation = 0;  ///< between the tokens of an iteration, 0 to 1 (Gaussian copula)
  /// With thresholds that decay over the answer (CALM, equation 5), the share of the exit rate by
  /// which the first token's rate is lower. The mean over the answer stays exit_rate. 0: no decay.
  double decay = 0;
  /// In place of all these: depths by request and token, from an imported `depth_trace`
  /// (depth_trace.hpp). Both start over at their end.
  std::vector<std::vector<std::int64_t>> traced = {};
};
void describe(Fields& f, ExitDepthConfig& c);

struct EarlyExitConfig {
  ExitTechnique technique = ExitTechnique::full;
  ExitRule rule = ExitRule::all_rows;
  std::optional<std::int64_t> buckets = {};  ///< batches under `bucketed`; 2 by default
  /// For techniques that measure confidence; others have none.
  std::optional<ExitDepthConfig> depths = {};
};
void describe(Fields& f, EarlyExitConfig& c);

/// The layer, from 1, after which every token exits under a technique that measures no confidence.
std::int64_t fixed_depth(ExitTechnique technique, std::int64_t layers);

/// A setting that does not fit a decoder of `layers` layers, reported to the user.
struct ExitProblem {
  std::string path;  ///< dotted, within the mapping of EarlyExitConfig
  std::string message;
  std::string hint;
};
/// Problems of the configuration, which may be incomplete after errors; empty when there are none.
std::vector<ExitProblem> exit_problems(const EarlyExitConfig& config, std::int64_t layers);

}  // namespace tiersim
