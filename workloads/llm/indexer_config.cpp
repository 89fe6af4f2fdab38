#include "workloads/llm/indexer_config.hpp"

#include <fmt/format.h>

namespace tiersim {

std::vector<Product> IndexerConfig::projections(std::int64_t hidden,
                                                std::int64_t query_latent) const {
  if (kind == IndexerKind::msa) return {full_product(hidden, (1 + heads) * head_dim)};
  constexpr std::int64_t kOverlapping = 2 * 2;  // inputs and gates of two groups of positions
  const std::int64_t keys = kind == IndexerKind::csa ? kOverlapping * head_dim : head_dim;
  return {full_product(hidden, keys), full_product(hidden, heads),
          full_product(query_latent, heads * head_dim)};
}

DataType IndexerConfig::stored_type() const {
  return key_type.value_or(default_type());
}

Bytes IndexerConfig::key() const {
  if (stored_type() != DataType::fp8_block) return stored(head_dim, stored_type());
  constexpr std::int64_t kScaled = 128;  // elements that share a scale
  constexpr Bytes kScale = Bytes::from_base(4);
  return stored(head_dim, DataType::fp8) + kScale * ((head_dim + kScaled - 1) / kScaled);
}

void describe(Fields& f, IndexerConfig& c) {
  f.doc("Indexer of sparse attention, which chooses the positions that are read.");
  f.optional(
      "kind", c.kind, kIndexerKindNames,
      "dsa: heads choose positions together, over latents (DeepSeek-V3.2, GLM-5); msa: each "
      "chooses blocks for one group of query heads (MiniMax-M3); csa: heads choose compressed "
      "rows together (DeepSeek-V4).");
  f.required("heads", c.heads, "Heads that score.", in_range(1, 4096));
  f.required("head_dim", c.head_dim, "Width of such a head and of the index key.",
             in_range(1, 4096));
  f.required("top_k", c.top_k, "Positions that attention reads; under csa compressed rows.",
             in_range(1, 1'000'000));
  f.optional("block", c.block, "Positions of a block, which are chosen together.",
             in_range(1, 65'536));
  f.optional("key_type", c.key_type, kDataTypeNames,
             "Element type of the cached index keys: bf16, fp8_block (a scale of 32 bits for 128 "
             "elements), mxfp4 or nvfp4; by default fp8_block, under msa bf16.");
  const DataType type = c.stored_type();
  f.check(
      type == DataType::bf16 || type == DataType::fp8_block || type == DataType::mxfp4 ||
          type == DataType::nvfp4,
      "key_type",
      fmt::format("'{}' is no type of index keys", kDataTypeNames[static_cast<std::size_t>(type)]),
      "bf16, fp8_block, mxfp4 or nvfp4");
  f.check(c.kind == IndexerKind::msa || c.block == 1, "block",
          "has no meaning: dsa chooses single positions, and csa rows",
          "kind: msa, or leave it out");
  f.check(c.block < 1 || c.top_k % c.block == 0, "top_k", "is not a number of whole blocks",
          "a multiple of block");
}

}  // namespace tiersim
