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
//     bucketed      sequences of like depth share a batch; each batch leaves when all of it may
//     parallel_fill each sequence leaves alone, and the keys and values of the layers that it
//                   skipped are made when the others pass these layers (Bae et al. 2023, FREE)
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

enum class ExitRule : std::uint8_t { all_rows, per_sequence, bucketed, parallel_fill };
inline constexpr std::array<std::string_view, 4> kExitRuleNames{"all_rows", "per_sequence",
                                                                "bucketed", "parallel_fill"};

/// Depths that tokens would leave at, each alone.
struct ExitDepthConfig {
  double exit_rate = 0;    ///< mean share of the layers that a token skips, 0 to 1
  double spread = 1;       ///< standard deviation of the depth, layers
  double correlation = 0;  ///< between the tokens of an iteration, 0 to 1 (Gaussian copula)
  /// Share of the exit rate that is lost from the first token of an answer to its last: thresholds
  /// that decay let later tokens leave sooner (CALM, equation 5); 0: none.
  double decay = 0;
  std::string trace = {};  ///< file of depths, instead of all of these; empty: none
};
void describe(Fields& f, ExitDepthConfig& c);

struct EarlyExitConfig {
  ExitTechnique technique = ExitTechnique::full;
  ExitRule rule = ExitRule::all_rows;
  std::int64_t buckets = 2;  ///< under `bucketed`
  ExitDepthConfig depths = {};
};
void describe(Fields& f, EarlyExitConfig& c);

}  // namespace tiersim
