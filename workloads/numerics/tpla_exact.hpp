#pragma once
// What TPLA states exactly: equalities, shown to rounding with the bounds of rounding.hpp, and the
// examples of section 4.3.1 in whole numbers. Source: TPLA, sections 3.3, 4.1, 4.3 and 4.4.
#include <string>
#include <vector>

#include "workloads/numerics/study.hpp"
#include "workloads/numerics/tpla_sample.hpp"

namespace tiersim::numerics {

/// The study's tables, statements and figures call a sample by a name.
struct NamedSample {
  std::string name;
  TplaSample sample;
  std::vector<TurnedSample> turned;
};
NamedSample named_sample(Rng& rng, std::string name, const TplaAssumptions& assumptions);

/// Proposition 1, absorbed form, transformed layer and the energy in PCA's slices, over all samples
/// and transforms.
std::vector<Statement> equality_statements(const std::vector<NamedSample>& samples);

/// TPLA of h heads in g slices against GLA of g h heads, g = 2, 4, 8.
Statement grouped_statement(const NamedSample& named);

/// The examples of 4.3.1: what Hadamard does for condition 1, and what it cannot do for
/// condition 2.
std::vector<Statement> hadamard_examples();

}  // namespace tiersim::numerics
