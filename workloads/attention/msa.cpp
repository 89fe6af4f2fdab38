#include "workloads/attention/msa.hpp"

#include "workloads/attention/indexed_rows.hpp"

namespace tiersim {

void register_msa(Registry<MethodKind>& registry) {
  registry.add("msa",
               {"MiniMax sparse attention: each index head chooses blocks for one group of queries",
                []() -> std::unique_ptr<Method> { return make_indexed_rows(IndexerKind::msa); }});
}

}  // namespace tiersim
