#pragma once
// The depth at which each token would leave alone: a stated distribution, or a file of depths. A
// depth is a pure function of (seed, request, token) and of what the tokens of an iteration have
// in common, so that no order of asking moves any.
//
// Drawn depths: z is a standard normal, sqrt(rho) times one that all tokens of an iteration share
// plus sqrt(1 - rho) times the token's own (Gaussian copula; rho 1: all leave together, 0: nothing
// in common). The depth is mu + spread * z, rounded to a whole layer and clipped to 1 .. layers.
// Rounding and clipping move the mean, so mu is solved for at construction (by bisection): the
// mean of the depths, not of the normal, is layers * (1 - exit_rate). So
//
//   P(depth <= l) = Phi((l + 1/2 - mu) / spread) for l < layers,  mean = sum_l P(depth > l).
//
// With decay d, the rate at share x of an answer is exit_rate * (1 - d e^(-4x)) / (1 - d m), where
// m is the mean of e^(-4x) over the answer: thresholds fall as e^(-tau x) with tau = 4 (CALM,
// equation 5 and section 4) and rates are taken as linear in them. x is in 64 steps. Each step has
// its own mu. An answer of few tokens misses the mean by what the steps that it skips differ.
#include <cstdint>
#include <vector>

#include "workloads/early_exit/early_exit_config.hpp"

namespace tiersim {

class ExitDepths {
 public:
  /// `config` has been read without mistakes and has no exit_problems(). `layers`: of the decoder.
  ExitDepths(const EarlyExitConfig& config, std::int64_t layers, std::uint64_t seed);

  /// The layer, from 1 to `layers`, after which token `token` (from 0) of `of_tokens` of request
  /// `request` would leave, in iteration `iteration`: a number that no iteration of another replica
  /// has, since its tokens share a part of their fate.
  std::int64_t depth(std::int64_t request, std::int64_t token, std::int64_t of_tokens,
                     std::int64_t iteration) const;

  /// Mean over all tokens (of long answers), and the share of them that leave at `layer` or before:
  /// exact sums of the distribution or over the trace.
  double mean_depth() const;
  double at_most(std::int64_t layer) const;
  /// Standard deviation of the same, after rounding and clipping.
  double deviation() const;

 private:
  std::int64_t traced(std::int64_t request, std::int64_t token) const;

  std::int64_t layers_;
  std::uint64_t seed_;
  double shared_ = 0;  // weight of the iteration's normal, sqrt(rho)
  double own_ = 1;
  /// By step of the answer (one where nothing decays): z up to which a token leaves at layer 1, 2,
  /// ... layers - 1. Empty where depths are fixed or traced.
  std::vector<std::vector<double>> thresholds_;
  std::vector<std::vector<std::int64_t>> traced_;
  std::vector<double> at_most_;  // [layer], from 0
};

/// Largest rate over exit_rate that this decay leads to, at the end of an answer.
double decay_peak(double decay);

/// P(Z <= x) of a standard normal, to about 1e-15 absolutely; the same bits on every platform.
double normal_at_most(double x);

}  // namespace tiersim
