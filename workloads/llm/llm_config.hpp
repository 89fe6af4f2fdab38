#pragma once
// A decoder-only transformer by its published dimensions, and the step that is asked of it.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Element types of stored tensors.
enum class DataType : std::uint8_t { fp16, bf16, fp8, int8, int4 };
inline constexpr std::array<std::string_view, 5> kDataTypeNames{"fp16", "bf16", "fp8", "int8",
                                                                "int4"};
constexpr std::int64_t bits(DataType type) {
  constexpr std::array<std::int64_t, 5> kBits{16, 16, 8, 8, 4};
  return kBits[static_cast<std::size_t>(type)];
}
/// Bytes of so many elements stored back to back, rounded up.
constexpr Bytes stored(std::int64_t elements, DataType type) {
  return Bytes::from_base((elements * bits(type) + 7) / 8);
}

/// Dimensions as in the model's own configuration file.
struct LlmConfig {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate = 0;  ///< width of the gated MLP
  std::int64_t vocabulary = 0;
  bool tied_embeddings = false;

  std::int64_t query_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }
  /// Weights of all layers, embeddings, norms and head.
  std::int64_t parameters() const;
};
void describe(Fields& f, LlmConfig& c);

/// One decode step: every sequence has `context` positions in its KV cache, the newest included.
struct DecodeConfig {
  std::int64_t batch = 1;
  std::int64_t context = 1;
  DataType weight_type = DataType::fp16;
  DataType kv_type = DataType::fp16;
};
void describe(Fields& f, DecodeConfig& c);

}  // namespace tiersim
