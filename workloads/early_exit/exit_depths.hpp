#pragma once
// The depth at which each token would exit alone: from a stated distribution, or from a file of
// depths. A depth is a pure function of (seed, request, token) and of a random number that the
// tokens of an iteration share, so it does not depend on the order of calls.
//
// Drawn depths: z is a standard normal, sqrt(rho) times one that all tokens of an iteration share
// plus sqrt(1 - rho) times the token's own (Gaussian copula; rho 1: all exit together, 0: they are
// independent). The depth is mu + spread * z, rounded to a whole layer and clipped to 1 .. layers.
// Rounding and clipping move the mean, so the constructor solves for mu by bisection: the mean of
// the depths, not of the normal, is layers * (1 - exit_rate). So
//
//   P(depth <= l) = Phi((l + 1/2 - mu) / spread) for l < layers,  mean = sum_l P(depth > l).
//
// With decay d, the rate at share x of an answer is exit_rate * (1 - d e^(-4x)) / (1 - d m), where
// m is the mean of e^(-4x) over the answer: thresholds fall as e^(-tau x) with tau = 4 (CALM,
// equation 5 and section 4) and rates are taken as linear in them. x has 64 steps, each with a mu
// of its own. An answer of few tokens skips steps, so its mean differs.
#include <cstdint>
#include <vector>

#include "workloads/early_exit/early_exit_config.hpp"

namespace tiersim {

class ExitDepths {
 public:
  /// `config` was read without mistakes and has no exit_problems(). `layers`: those of the decoder.
  ExitDepths(const EarlyExitConfig& config, std::int64_t layers, std::uint64_t seed);

  /// The layer, from 1 to `layers`, after which token `token` (from 0) of `of_tokens` of request
  /// `request` would exit in iteration `iteration`. That number must be unique over all replicas,
  /// since the tokens of one iteration are correlated.
  std::int64_t depth(std::int64_t request, std::int64_t token, std::int64_t of_tokens,
                     std::int64_t iteration) const;

  /// Mean depth over all tokens (of long answers), and the share of them that exit at `layer` or
  /// before. Both are exact sums of the distribution or over the trace.
  double mean_depth() const;
  double at_most(std::int64_t layer) const;
  /// Standard deviation of the depth, after rounding and clipping.
  double deviation() const;

 private:
  std::int64_t traced(std::int64_t request, std::int64_t token) const;

  std::int64_t layers_;
  std::uint64_t seed_;
  double shared_ = 0;  // weight of the iteration's shared normal, sqrt(rho)
  double own_ = 1;
  /// For each step of the answer (a single one without decay): upper limits of z for an exit at
  /// layer 1, 2, ... layers - 1. Empty where depths are fixed or traced.
  std::vector<std::vector<double>> thresholds_;
  std::vector<std::vector<std::int64_t>> traced_;
  std::vector<double> at_most_;  // by layer, from 0
};

/// Largest rate over exit_rate with this decay, reached at the end of an answer.
double decay_peak(double decay);

/// P(Z <= x) of a standard normal, with an absolute error of about 1e-15; the same bits on every
/// platform.
double normal_at_most(double x);

}  // namespace tiersim
