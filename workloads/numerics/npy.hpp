#pragma once
// Reader of NumPy's .npy files (NEP 1; versions 1.0 and 2.0): float32 or float64, little-endian, in
// C order. Any other content is refused with its byte offset, and so are data that are too short or
// too long for the shape, and numbers that are not finite.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/expected.hpp"

namespace tiersim::numerics {

struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<double> values;  ///< the last dimension varies fastest
};

struct NpyProblem {
  std::size_t offset = 0;  ///< offset of the mistake in the file
  std::string what;        ///< message: lower case, no full stop
};

/// `bytes`: the whole file.
Expected<NpyArray, NpyProblem> read_npy(std::string_view bytes);

/// The shape as "(4, 1024, 64)".
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace tiersim::numerics
