#include "sim/step/importers.hpp"

#include "workloads/importers.hpp"

namespace tiersim {

std::vector<Importer> make_all_importers() {
  std::vector<Importer> all = make_importers();
  all.push_back(
      {.key = "calibration",
       .named_base = NamedBase{
           .folder = "calibration", .file = "gpu.yaml", .keys = {"kernels", "timed_kernels"}}});
  return all;
}

}  // namespace tiersim
