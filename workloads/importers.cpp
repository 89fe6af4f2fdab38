#include "workloads/importers.hpp"

#include "workloads/early_exit/depth_trace.hpp"
#include "workloads/llm/expert_load_config.hpp"
#include "workloads/llm/hf_config.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/trace/index_trace.hpp"

namespace tiersim {

std::vector<Importer> make_importers() {
  return {{"hf_config", import_hf_config},
          {"expert_counts", import_expert_counts},
          {"placement_counts", import_placement_counts},
          {"index_trace", import_index_trace},
          {.key = "trace", .read = import_request_trace},
          {"depth_trace", import_depth_trace}};
}

}  // namespace tiersim
