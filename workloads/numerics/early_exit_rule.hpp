#pragma once
// The exit rule of a token: one of three measures of confidence against a threshold.
// Source: Miao et al. 2024 (early exit), section 2.1; Schuster et al. 2022 (CALM), section 3.5.
#include <string_view>
#include <vector>

#include "workloads/numerics/early_exit_decoder.hpp"

namespace tiersim::numerics {

enum class Measure { softmax, state, classifier };
std::vector<Measure> all_measures();
std::string_view name_of(Measure measure);

/// Difference of the two largest probabilities of softmax(logits), as (1 - e^(l2 - l1)) / sum e^(l
/// - l1), where no exponent is positive. Needs at least two logits.
double softmax_response(const RowVector& logits);

/// Cosine of two hidden states, at most 1.
double state_similarity(const RowVector& before, const RowVector& after);

/// Linear classifier: the sigmoid of a linear function.
struct Classifier {
  RowVector weights;
  double bias = 0;

  double operator()(const RowVector& features) const;
};
/// 1 / (1 + e^-x) without overflow.
double sigmoid(double x);

/// Logistic regression with a ridge, by Newton's method: rows of features with labels 0 or 1.
Classifier fit_classifier(const Matrix& features, const Vector& labels, double ridge);

/// A token is accepted after a layer where the confidence there is greater than the threshold.
struct ExitRule {
  Measure measure = Measure::softmax;
  double threshold = 0;
  const Classifier* classifier =
      nullptr;  ///< needed by Measure::classifier; reads normalised states
};

double confidence(const Decoder& decoder, const ExitRule& rule, const RowVector& before,
                  const RowVector& after);

}  // namespace tiersim::numerics
