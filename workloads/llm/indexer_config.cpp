#include "workloads/llm/indexer_config.hpp"

namespace tiersim {

void describe(Fields& f, IndexerConfig& c) {
  f.doc("Indexer of DeepSeek sparse attention, which chooses the positions that are read.");
  f.required("heads", c.heads, "Heads that score.", in_range(1, 4096));
  f.required("head_dim", c.head_dim, "Width of such a head and of the index key.",
             in_range(1, 4096));
  f.required("top_k", c.top_k, "Positions that attention reads.", in_range(1, 1'000'000));
}

}  // namespace tiersim
