// Shapes and cases of the screening tests.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cases/screening_inputs.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "tests/kernels/support/emulated_case.hpp"

namespace tiersim::kernels {

// One sequence for each length.
inline ScreeningShape ragged_shape(std::vector<int> lengths, int capacity, int k, int heads = 1) {
  ScreeningShape shape;
  shape.batch = static_cast<int>(lengths.size());
  shape.heads = heads;
  shape.capacity = capacity;
  shape.k = k;
  shape.lengths = std::move(lengths);
  return shape;
}

template <class Subject, class... Arguments>
MakeCase subject(Arguments... arguments) {
  return [=] { return std::make_unique<Subject>(arguments...); };
}

}  // namespace tiersim::kernels
