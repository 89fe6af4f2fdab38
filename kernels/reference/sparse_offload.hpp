// Reference results of the kernels of sparse offload, slow and simple.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tiersim::kernels::reference {

// A slot of a hot buffer and the token whose row it holds; -1: free.
struct HotRow {
  int token = -1;
  int slot = 0;
  friend bool operator==(const HotRow&, const HotRow&) = default;
};

// A chosen row: where it lies after the step, and its position in the list.
struct HotMove {
  int token = 0;
  int slot = 0;
  int position = 0;
  friend bool operator==(const HotMove&, const HotMove&) = default;
};

struct HotStep {
  std::vector<HotRow> held;     // the least recently used one first
  std::vector<HotMove> missed;  // in the order of the list
  std::vector<HotMove> found;   // likewise
};

// Uses the chosen rows one after the other, and each of them is pinned from the beginning: a row
// that is not held takes the slot of the least recently used one that is not pinned. Then all
// fetched rows are used once more in the order of the list, and after them all found ones.
// chosen.size() <= held.size().
HotStep use_rows(const std::vector<HotRow>& held, const std::vector<int>& chosen);

// A number e4m3 (the "fn" form: no infinities, 0x7f and 0xff are NaN).
double from_e4m3(std::uint8_t bits);

// sum over heads of weights[h] max(0, query[h] . key) scale, for one key. queries: [heads][dim].
double index_score(const std::vector<double>& queries, const std::vector<double>& weights,
                   const std::vector<double>& key, double scale);

}  // namespace tiersim::kernels::reference
