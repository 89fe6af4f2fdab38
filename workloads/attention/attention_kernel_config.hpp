#pragma once
// The decode attention kernel, as far as it decides what is executed: query rows are padded to
// whole tiles, and keys may be split over thread blocks whose partial results are then joined.
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Query rows of a tile, for value widths up to one.
struct KernelTile {
  std::int64_t value_width = 0;
  std::int64_t rows = 1;
};
void describe(Fields& f, KernelTile& c);

struct AttentionKernelConfig {
  std::vector<KernelTile> tiles = {};  ///< widths rising; none: nothing is padded
  std::int64_t splits = 1;             ///< of the keys of one sequence

  /// Query rows as executed where so many read the same keys: whole tiles. Widths beyond the last
  /// tile's take the last.
  std::int64_t executed_rows(std::int64_t rows, std::int64_t value_width) const;
  /// Partial results in fp32, with the largest score and the sum of each row; none without splits.
  Bytes partial_results(std::int64_t query_heads, std::int64_t value_width) const;
};
void describe(Fields& f, AttentionKernelConfig& c);

}  // namespace tiersim
