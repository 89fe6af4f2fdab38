#pragma once
// The terms of the kernel equation that a set of cases determines, and the weight of each case.
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/fit.hpp"
#include "hwmodels/calibrate/fit/least_squares.hpp"

namespace tiersim {

struct TermFit {
  std::vector<Observation> observations;
  FreeParameters free{};
  FreeParameters held{};  ///< rates held at a ceiling; not free
  LeastSquares solution;
  double scale = 0;  ///< residual standard deviation for unit weight
  std::vector<std::string> notes;

  std::size_t free_count() const;
  std::size_t held_count() const;
  double degrees_of_freedom() const;
};

/// Fits the equation: weights from the intervals and the scatter beyond them, terms by F tests at 1
/// %. A rate that would exceed its ceiling is held at it, where the cases allow that.
TermFit fit_terms(const std::vector<FitCase>& cases, const Ceilings& ceilings = {});

/// Fits the terms of `like` to other cases, starting from its parameters.
TermFit refit(const TermFit& like, const std::vector<FitCase>& cases);

/// 95 % profile interval of p: every p whose best sum of squares an F test does not reject. The
/// whole range where p is not free.
Estimate profile_of_sharpness(const TermFit& fit);

/// 95 % profile interval of bandwidth or peak, which must be free. It is needed where the cases
/// hardly determine p: a sharp corner at a low rate and a round one at a high rate then look alike,
/// and bootstrap draws around the best fit stay with one of them.
Estimate profile_of_rate(const TermFit& fit, Parameter rate);

}  // namespace tiersim
