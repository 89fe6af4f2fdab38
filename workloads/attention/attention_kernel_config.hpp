#pragma once
// The decode attention kernel, as far as it changes the executed work: query rows are padded to
// whole tiles, and keys may be split over thread blocks whose partial results are then combined.
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Query rows of a tile, for value widths up to `value_width`.
struct KernelTile {
  std::int64_t value_width = 0;
  std::int64_t rows = 1;
};
void describe(Fields& f, KernelTile& c);

struct AttentionKernelConfig {
  std::vector<KernelTile> tiles = {};  ///< in rising order of width; empty: no padding
  std::int64_t splits = 1;             ///< splits of the keys of one sequence

  /// Query rows as executed, in whole tiles, where `rows` of them read the same keys. A width
  /// beyond that of the last tile takes the last tile.
  std::int64_t executed_rows(std::int64_t rows, std::int64_t value_width) const;
  /// Partial results in fp32, with the maximum and the sum of each row; 0 without splits.
  Bytes partial_results(std::int64_t query_heads, std::int64_t value_width) const;
};
void describe(Fields& f, AttentionKernelConfig& c);

}  // namespace tiersim
