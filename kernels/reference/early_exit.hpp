// Reference results of the early-exit kernels in float64, slow and simple. bf16 operands are passed
// as 16 bits; matrices are row-major.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tiersim::kernels {

double bf16_value(std::uint16_t bits);

// One token through the head: logits[v] = embedding[v] . hidden.
struct HeadReference {
  std::vector<double> logits;
  int best = 0;            // lowest index wins ties
  double probability = 0;  // of best, by softmax
  double difference = 0;   // probability less that of the second best
  double log_sum = 0;      // ln sum exp
};
// embedding: vocabulary x depth; hidden: depth numbers.
HeadReference head_reference(const std::uint16_t* embedding, std::size_t vocabulary,
                             std::size_t depth, const std::uint16_t* hidden);

// One row of the residual add: fresh = state + delta, 1 / sqrt(mean square + epsilon) of fresh, its
// cosine with `other`, and the classifier's sigmoid(other . fresh + bias).
struct ResidualReference {
  std::vector<double> fresh;
  double factor = 0;
  double cosine = 0;
  double classifier = 0;
};
ResidualReference residual_reference(const std::uint16_t* state, const std::uint16_t* delta,
                                     const std::uint16_t* other, std::size_t depth, double epsilon,
                                     double bias);

// factor (weights x): `rows` products of a weight matrix (rows x depth) and one token.
std::vector<double> project_reference(const std::uint16_t* weights, std::size_t rows,
                                      std::size_t depth, const std::vector<double>& token,
                                      double factor);
std::vector<double> bf16_values(const std::uint16_t* bits, std::size_t count);
double rms_factor(const std::vector<double>& values, double epsilon);

}  // namespace tiersim::kernels
