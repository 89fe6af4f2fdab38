#pragma once
// Arrays of NumPy's .npy files (NEP 1; versions 1.0 and 2.0): float32 or float64, little-endian, in
// C order. Strict: whatever is not that is refused with the byte where it stands, and so are data
// that are too short or long for the shape, and numbers that are not finite.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/expected.hpp"

namespace tiersim::numerics {

struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<double> values;  ///< the last dimension is the fastest
};

struct NpyProblem {
  std::size_t offset = 0;  ///< of the byte in the file
  std::string what;        ///< lower case, no full stop
};

/// `bytes`: a whole file.
Expected<NpyArray, NpyProblem> read_npy(std::string_view bytes);

/// "(4, 1024, 64)"
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace tiersim::numerics
