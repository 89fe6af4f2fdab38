// Shared memory of a selection, for the kernels and for their hosts.
#pragma once
#include <cstddef>
#include <cstdint>

// Attributes for functions on both host and card; empty for other compilers.
#if defined(__CUDACC__)
#define TS_BOTH __host__ __device__
#else
#define TS_BOTH
#endif

namespace tiersim::kernels {

constexpr int kDigitBits = 11;  // bits of a key in one histogram
constexpr int kBins = 1 << kDigitBits;

template <class Key>
constexpr int kKeysPerUnit = 16 / static_cast<int>(sizeof(Key));  // 16 bytes: one load
template <class Key>
constexpr int kKeysPerStep = 32 * kKeysPerUnit<Key>;  // keys that a warp reads at once

// Marks the places after the last index, where fewer than k tokens exist. A row has at most 65535
// tokens.
template <class Id>
constexpr Id kNoId = static_cast<Id>(-1);

TS_BOTH constexpr int round_up(int n, int to) {
  return (n + to - 1) / to * to;
}

// Offsets [B] in shared memory. Parts of fixed size come first, so that their addresses are
// constants.
struct SelectLayout {
  static constexpr std::size_t kTotals = 0;  // one for each warp
  static constexpr std::size_t kFound = 32 * sizeof(unsigned);
  static constexpr std::size_t kKeys = kFound + 4 * sizeof(int);
  std::size_t scratch, bytes;  // histogram, and staged indices over it
};
template <class Key, class Id>
TS_BOTH constexpr SelectLayout select_layout(int capacity, int k) {
  const auto keys = static_cast<std::size_t>(round_up(capacity, kKeysPerStep<Key>)) * sizeof(Key);
  const auto staged = static_cast<std::size_t>(round_up(k * static_cast<int>(sizeof(Id)), 16));
  const std::size_t histogram = kBins * sizeof(int);
  SelectLayout layout{};
  layout.scratch = SelectLayout::kKeys + keys;
  layout.bytes = layout.scratch + (staged > histogram ? staged : histogram);
  return layout;
}

}  // namespace tiersim::kernels
