#pragma once
// Layers whose cache has one row for several positions, beside a window of uncompressed rows
// (DeepSeek-V4, arXiv 2606.19348, section 2.3). A gate weighs the rows of these positions element
// by element, and their weighted sum is the compressed row. Rows of whole groups of positions
// alone exist: a query at the n-th position of a sequence sees floor(n / positions) of them.
//
//   compressed_sparse_attention   a few positions a row (`sparse`), of two groups of positions that
//                                 overlap; an indexer over rows of its own chooses `top_k` of them
//   heavily_compressed_attention  many positions a row (`heavy`), and attention reads every row
#include <cstdint>

#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

struct CompressionConfig {
  std::int64_t sparse = 0;  ///< positions of a row under compressed_sparse_attention; 0: no layer
  std::int64_t heavy = 0;   ///< the same under heavily_compressed_attention
  /// In the model of the layers of one type (LlmConfig::layers_of): positions of a row, 0 for
  /// layers with a window alone; and groups of positions that a row is made of. Not fields of the
  /// configuration.
  std::int64_t positions = 0;
  std::int64_t groups = 0;

  /// Rows that a query at the n-th position sees, and the sum of them over queries 1 to n where a
  /// query reads `most` at most.
  std::int64_t rows(std::int64_t n) const { return positions == 0 ? 0 : n / positions; }
  std::int64_t rows_read(std::int64_t n, std::int64_t most) const;
  /// Elements that a position adds to what a row of this width is made of: inputs and gates.
  std::int64_t inputs(std::int64_t width) const { return 2 * groups * width; }
  /// State of a sequence: inputs and gates, in fp32, of the positions that rows to come need.
  Bytes state(std::int64_t width) const {
    return Bytes::from_base(4) * (groups * positions * inputs(width));
  }
  /// Weights that are no matrices: a bias of the gate for each position of a group, and a norm.
  std::int64_t vectors(std::int64_t width) const {
    return positions == 0 ? 0 : positions * groups * width + width;
  }

  friend bool operator==(const CompressionConfig&, const CompressionConfig&) = default;
};
void describe(Fields& f, CompressionConfig& c);

}  // namespace tiersim
