#include "workloads/llm/compression_config.hpp"

#include <algorithm>

namespace tiersim {

// Queries r q to r q + r - 1 see q rows each.
std::int64_t CompressionConfig::rows_read(std::int64_t n, std::int64_t most) const {
  if (positions == 0) return 0;
  const std::int64_t growing = std::min(n, most * positions - 1);  // queries that see fewer
  const std::int64_t q = growing / positions;
  return positions * (q * (q - 1) / 2) + q * (growing % positions + 1) + (n - growing) * most;
}

void describe(Fields& f, CompressionConfig& c) {
  f.doc("Cached rows that stand for several positions each.");
  f.optional("sparse", c.sparse,
             "Positions of a row in layers of compressed_sparse_attention; 0 without such layers.",
             in_range(0, 65'536));
  f.optional("heavy", c.heavy,
             "Positions of a row in layers of heavily_compressed_attention; 0 without such layers.",
             in_range(0, 65'536));
}

}  // namespace tiersim
