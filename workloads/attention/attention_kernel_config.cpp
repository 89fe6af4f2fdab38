#include "workloads/attention/attention_kernel_config.hpp"

#include <algorithm>

namespace tiersim {

void describe(Fields& f, KernelTile& c) {
  f.doc("Query rows of a tile.");
  f.required("value_width", c.value_width, "Widest value that it is for.", in_range(1, 100'000));
  f.required("rows", c.rows, "Query rows of one tile.", in_range(1, 4096));
}

void describe(Fields& f, AttentionKernelConfig& c) {
  f.doc("The decode attention kernel: what it executes beyond what is asked.");
  f.optional("tiles", c.tiles, "Tiles by value width, widths rising; none: rows are not padded.");
  f.optional("splits", c.splits, "Thread blocks that share the keys of one sequence.",
             in_range(1, 1024));
  for (std::size_t i = 1; i < c.tiles.size(); ++i)
    f.check(c.tiles[i - 1].value_width < c.tiles[i].value_width, "tiles",
            "value widths do not rise", "each tile is for wider values than the one before");
}

std::int64_t AttentionKernelConfig::executed_rows(std::int64_t rows,
                                                  std::int64_t value_width) const {
  if (tiles.empty()) return rows;
  auto tile = std::ranges::find_if(
      tiles, [&](const KernelTile& t) { return value_width <= t.value_width; });
  if (tile == tiles.end()) --tile;
  return (rows + tile->rows - 1) / tile->rows * tile->rows;
}

Bytes AttentionKernelConfig::partial_results(std::int64_t query_heads,
                                             std::int64_t value_width) const {
  if (splits == 1) return {};
  constexpr std::int64_t kFloat = 4;
  return Bytes::from_base(kFloat) * (value_width + 2) * query_heads * splits;
}

}  // namespace tiersim
