#pragma once
// An indexer: small heads score every cached position by one key of its own, and attention reads
// the rows of the `top_k` best.
//   dsa   DeepSeek sparse attention (DeepSeek-V3.2-Exp, arXiv 2512.02556, and GLM-5). All heads
//         choose single positions together, for attention over latents.
//   msa   MiniMax sparse attention (MiniMax-M3; modular_minimax_m3_vl.py of transformers). Each
//         head chooses for one group of query heads, whole blocks by their best position.
//   csa   compressed sparse attention (DeepSeek-V4, arXiv 2606.19348). All heads choose compressed
//         rows together, by keys that are compressed alike (CompressionConfig).
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"
#include "workloads/llm/data_type.hpp"
#include "workloads/llm/product.hpp"

namespace tiersim {

enum class IndexerKind : std::uint8_t { dsa, msa, csa };
inline constexpr std::array<std::string_view, 3> kIndexerKindNames{"dsa", "msa", "csa"};

struct IndexerConfig {
  IndexerKind kind = IndexerKind::dsa;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;  ///< also of the one key a position
  std::int64_t top_k = 0;     ///< positions, under csa rows, that attention reads
  std::int64_t block = 1;     ///< positions that are chosen together
  /// Element type of the cached keys; by default fp8_block, under msa bf16.
  std::optional<DataType> key_type = {};
  /// True in the model of layers that attend to what an earlier layer chose, which have no indexer
  /// of their own (LlmConfig::layers_of); not a field of the configuration.
  bool shared = false;

  /// Products from the residual stream, and under dsa and csa from the latent of the queries: the
  /// index key (under csa what it is compressed from), the weight of each head, and the index
  /// queries; under msa keys and queries as one.
  std::vector<Product> projections(std::int64_t hidden, std::int64_t query_latent) const;
  /// Weights that are no matrices: scale and bias of the key's norm; under msa a norm of the keys
  /// and one of the queries. Those of csa are CompressionConfig::vectors().
  std::int64_t vectors() const { return 2 * head_dim; }
  /// The index key of a position, under csa of a row, with its scales. By default it is under dsa
  /// and csa fp8 with a scale of 32 bits for 128 elements, and under msa bf16, as in vLLM 0.24.
  Bytes key() const;
  DataType stored_type() const;
  /// True where it is stored as the kernels that were timed have it.
  bool has_timed_keys() const { return !key_type || *key_type == default_type(); }

  DataType default_type() const {
    return kind == IndexerKind::msa ? DataType::bf16 : DataType::fp8_block;
  }

  friend bool operator==(const IndexerConfig&, const IndexerConfig&) = default;
};
void describe(Fields& f, IndexerConfig& c);

}  // namespace tiersim
