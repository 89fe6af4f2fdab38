#include "workloads/importers.hpp"

#include "workloads/llm/hf_config.hpp"

namespace tiersim {

std::vector<Importer> make_importers() {
  return {{"hf_config", import_hf_config}};
}

}  // namespace tiersim
