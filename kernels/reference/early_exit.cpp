#include "kernels/reference/early_exit.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace tiersim::kernels {

double bf16_value(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
}

std::vector<double> bf16_values(const std::uint16_t* bits, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = bf16_value(bits[i]);
  return values;
}

double rms_factor(const std::vector<double>& values, double epsilon) {
  double squares = 0;
  for (const double v : values) squares += v * v;
  return 1.0 / std::sqrt(squares / static_cast<double>(values.size()) + epsilon);
}

std::vector<double> project_reference(const std::uint16_t* weights, std::size_t rows,
                                      std::size_t depth, const std::vector<double>& token,
                                      double factor) {
  std::vector<double> out(rows, 0.0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < depth; ++k) out[r] += bf16_value(weights[r * depth + k]) * token[k];
    out[r] *= factor;
  }
  return out;
}

HeadReference head_reference(const std::uint16_t* embedding, std::size_t vocabulary,
                             std::size_t depth, const std::uint16_t* hidden) {
  HeadReference result;
  result.logits = project_reference(embedding, vocabulary, depth, bf16_values(hidden, depth), 1.0);
  double first = -std::numeric_limits<double>::infinity();
  double second = first;
  for (std::size_t v = 0; v < vocabulary; ++v) {
    const double logit = result.logits[v];
    if (logit > first) {
      second = first;
      first = logit;
      result.best = static_cast<int>(v);
    } else if (logit > second) {
      second = logit;
    }
  }
  double sum = 0;
  for (const double logit : result.logits) sum += std::exp(logit - first);
  result.probability = 1.0 / sum;
  result.difference = (1.0 - std::exp(second - first)) / sum;
  result.log_sum = first + std::log(sum);
  return result;
}

ResidualReference residual_reference(const std::uint16_t* state, const std::uint16_t* delta,
                                     const std::uint16_t* other, std::size_t depth, double epsilon,
                                     double bias) {
  ResidualReference result;
  const std::vector<double> against = bf16_values(other, depth);
  double product = 0;
  double mine = 0;
  double theirs = 0;
  for (std::size_t k = 0; k < depth; ++k) {
    const double fresh = bf16_value(state[k]) + bf16_value(delta[k]);
    result.fresh.push_back(fresh);
    product += fresh * against[k];
    mine += fresh * fresh;
    theirs += against[k] * against[k];
  }
  result.factor = rms_factor(result.fresh, epsilon);
  result.cosine = product / std::sqrt(mine * theirs);
  result.classifier = 1.0 / (1.0 + std::exp(-(product + bias)));
  return result;
}

}  // namespace tiersim::kernels
