#pragma once
// The collective operations of a group of GPUs.
#include <array>
#include <cstdint>
#include <string_view>

namespace tiersim {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  send,  ///< each rank to one other, and from one other
};
inline constexpr std::array<std::string_view, 5> kCollectiveKindNames{
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "send"};
constexpr std::string_view name(CollectiveKind k) {
  return kCollectiveKindNames[static_cast<std::size_t>(k)];
}

}  // namespace tiersim
