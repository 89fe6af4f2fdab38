#include "workloads/attention/dsa.hpp"

#include "workloads/attention/indexed_rows.hpp"

namespace tiersim {

void register_dsa(Registry<MethodKind>& registry) {
  registry.add("dsa",
               {"DeepSeek sparse attention: the model's indexer chooses the rows that are read",
                []() -> std::unique_ptr<Method> { return make_indexed_rows(IndexerKind::dsa); }});
}

}  // namespace tiersim
