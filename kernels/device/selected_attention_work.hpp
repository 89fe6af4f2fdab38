// Geometry and work of selected_attention.
#pragma once
#include <cstddef>
#include <span>

#include "kernels/cases/work.hpp"
#include "kernels/device/select_layout.hpp"

namespace tiersim::kernels {

constexpr int kSelectedThreads = 128;
constexpr int kSelectedStages = 3;  // of the ring
constexpr int kSelectedRows = 4;    // of a stage, of each group of lanes that shares a row

template <int D>
constexpr int kSelectedLanes = D / 8;  // of a row: 16 B of bf16 each
template <int D>
constexpr int kSelectedGroups = kSelectedThreads / kSelectedLanes<D>;
template <int D>
constexpr int kSelectedBlockRows = kSelectedGroups<D>* kSelectedRows;  // of a stage

// Entries of the list that one split takes. The last splits may have fewer or none.
template <int D>
TS_BOTH constexpr int selected_chunk(int k, int splits) {
  return round_up((k + splits - 1) / splits, kSelectedBlockRows<D>);
}

// Offsets [B]; the ring comes first, and the parts of the result overlay it
struct SelectedLayout {
  std::size_t ids, bytes;
};
template <int D, class Id>
TS_BOTH constexpr SelectedLayout selected_layout(int k, int splits) {
  SelectedLayout layout{};
  layout.ids = std::size_t{kSelectedStages} * 2 * kSelectedRows * kSelectedThreads * 16;
  layout.bytes = layout.ids + static_cast<std::size_t>(selected_chunk<D>(k, splits)) * sizeof(Id);
  return layout;
}

// Rows of K and V are read once, and every split reads the query. Without splits the output is
// bf16; with splits it is fp32 parts and the logarithms of their sums.
template <int D>
constexpr Work selected_attention_work(std::span<const int> lengths, int heads, int k, int splits,
                                       int id_bytes) {
  Work work;
  work.read_bytes = static_cast<std::int64_t>(lengths.size()) * 4;
  const int chunk = selected_chunk<D>(k, splits);
  for (const int length : lengths) {
    const int count = length < k ? length : k;
    Work head;
    head.read_bytes = std::int64_t{count} * (2 * D * 2 + id_bytes) + D * 2;
    head.written_bytes = splits == 1 ? D * 2 : std::int64_t{splits} * (D * 4 + 4);
    head.requested_bytes = std::int64_t{count} * (2 * D * 2 + id_bytes) + head.written_bytes +
                           std::int64_t{splits} * kSelectedThreads * (4 + 16);
    head.flops = std::int64_t{count} * 2 * D * 2;
    for (int first = 0; first < count; first += chunk) {
      const int rows = count - first < chunk ? count - first : chunk;
      head.issued_flops += std::int64_t{round_up(rows, kSelectedBlockRows<D>)} * 2 * D * 2;
    }
    for (int i = 0; i < heads; ++i) work = work + head;
  }
  return work;
}

}  // namespace tiersim::kernels
