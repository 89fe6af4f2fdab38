#pragma once
// Exact statements of TPLA: equalities, checked with the rounding bounds of rounding.hpp, and the
// examples of section 4.3.1 in whole numbers. Source: TPLA, sections 3.3, 4.1, 4.3 and 4.4.
#include <string>
#include <vector>

#include "workloads/numerics/study.hpp"
#include "workloads/numerics/tpla_sample.hpp"

namespace tiersim::numerics {

/// A sample with its name in tables, statements and figures.
struct NamedSample {
  std::string name;
  TplaSample sample;
  std::vector<TurnedSample> turned;
};
NamedSample named_sample(Rng& rng, std::string name, const TplaAssumptions& assumptions);

/// Proposition 1, absorbed form, transformed layer and the energy in PCA's slices, over all samples
/// and transforms.
std::vector<Statement> equality_statements(const std::vector<NamedSample>& samples);

/// Equality of TPLA of h heads in g slices and GLA of g h heads, g = 2, 4, 8.
Statement grouped_statement(const NamedSample& named);

/// The examples of 4.3.1: a Hadamard transform achieves condition 1, and cannot achieve condition
/// 2.
std::vector<Statement> hadamard_examples();

}  // namespace tiersim::numerics
