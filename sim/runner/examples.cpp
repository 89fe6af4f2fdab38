#include "sim/runner/examples.hpp"

#include <array>

#include "sim/runner/load.hpp"

namespace tiersim {
namespace {

// The files stand in the order in which a new user would try them.
constexpr std::array kExampleFiles{
    "scenarios/methods/llama3_8b_dense_hbm.yaml",
    "scenarios/methods/llama3_8b_dense_pool.yaml",
    "scenarios/methods/llama3_8b_maple.yaml",
    "scenarios/methods/llama3_8b_quest.yaml",
    "scenarios/methods/llama3_8b_tiered.yaml",
    "scenarios/tpla/deepseek_v3_full_tp8.yaml",
    "scenarios/tpla/deepseek_v3_full_tpla_tp8.yaml",
    "scenarios/packets/llama2_7b_layer_pool.yaml",
    "scenarios/speculation/llama3_70b_h100_draft_8b.yaml",
    "serving/llama3_8b_h100_poisson.yaml",
    "serving/llama3_8b_h100_closed_loop.yaml",
    "serving/llama3_70b_gh200_weights.yaml",
    "serving/llama2_7b_rtx4090_prefix_cache.yaml",
    "serving/llama3_8b_h100x4_disaggregated.yaml",
    "serving/llama3_8b_h100_eagle3.yaml",
    "serving/trace_azure_conversation.yaml",
    "serving/early_exit/t5_base_rtx4090.yaml",
    "sweeps/maple_pool.yaml",
    "sweeps/serving_load.yaml",
    "sweeps/search_pool.yaml",
};

Example example_of(const std::string& file) {
  Diagnostics diagnostics;
  const Document document = load_document(config_root() / file, standard_options(), diagnostics);
  throw_if_any(diagnostics);
  const Node& root = document.root();
  const Entry* description = root.find("description");
  const std::string kind = root.schemas.back().kind;
  return {.kind = kind,
          .file = file,
          .description = description == nullptr ? "" : description->value.scalar,
          .command = (kind == "sweep" ? "tiersim sweep " : "tiersim run ") + file};
}

}  // namespace

std::vector<Example> examples() {
  std::vector<Example> out;
  for (const char* file : kExampleFiles) out.push_back(example_of(file));
  return out;
}

}  // namespace tiersim
