#include "workloads/numerics/early_exit_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::numerics {
namespace {

constexpr int kNewtonSteps = 12;

// e^x for x <= 0; 0 below the range of doubles.
double decay(double x) {
  return x < -700 ? 0 : portable_exp(x);
}

}  // namespace

std::vector<Measure> all_measures() {
  return {Measure::softmax, Measure::state, Measure::classifier};
}

std::string_view name_of(Measure measure) {
  switch (measure) {
    case Measure::softmax:
      return "softmax";
    case Measure::state:
      return "state";
    case Measure::classifier:
      return "classifier";
  }
  TS_INVARIANT(false, static_cast<int>(measure));
}

double softmax_response(const RowVector& logits) {
  TS_EXPECTS(logits.size() >= 2, logits.size());
  double first = -std::numeric_limits<double>::infinity();
  double second = first;
  for (const double logit : logits) {
    second = std::max(second, std::min(first, logit));
    first = std::max(first, logit);
  }
  double sum = 0;
  for (const double logit : logits) sum += decay(logit - first);
  return (1 - decay(second - first)) / sum;
}

double state_similarity(const RowVector& before, const RowVector& after) {
  return std::min(1.0, before.dot(after) / (before.norm() * after.norm()));
}

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + decay(-x)) : decay(x) / (1 + decay(x));
}

double Classifier::operator()(const RowVector& features) const {
  return sigmoid(weights.dot(features) + bias);
}

Classifier fit_classifier(const Matrix& features, const Vector& labels, double ridge) {
  TS_EXPECTS(features.rows() == labels.size(), features.rows(), labels.size());
  const Index columns = features.cols();
  Matrix x(features.rows(), columns + 1);
  x << features, Vector::Ones(features.rows());
  Vector w = Vector::Zero(columns + 1);
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Vector p = (x * w).unaryExpr(&sigmoid);
    const Vector gradient = x.transpose() * (p - labels) + ridge * w;
    const Vector curvature = p.cwiseProduct(Vector::Ones(p.size()) - p);
    Matrix hessian = x.transpose() * (curvature.asDiagonal() * x);
    hessian.diagonal().array() += ridge;
    w -= hessian.ldlt().solve(gradient);
  }
  return {.weights = w.head(columns).transpose(), .bias = w(columns)};
}

double confidence(const Decoder& decoder, const ExitRule& rule, const RowVector& before,
                  const RowVector& after) {
  switch (rule.measure) {
    case Measure::softmax:
      return softmax_response(logits(decoder, after));
    case Measure::state:
      return state_similarity(before, after);
    case Measure::classifier:
      TS_EXPECTS(rule.classifier != nullptr);
      return (*rule.classifier)(normalised(decoder, after));
  }
  TS_INVARIANT(false, static_cast<int>(rule.measure));
}

}  // namespace tiersim::numerics
