#pragma once
// Fits of forms as the `timed_kernels` of a GPU (hwmodels/compute/timed_kernel.hpp), or as the
// `timed_collectives` of a library (hwmodels/collective/timed_collective.hpp).
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/form_fit.hpp"

namespace tiersim {

/// A fit to write.
struct WrittenForm {
  std::string kernel;      ///< labels of the timings: "torch_flow bfloat16"
  std::string family;      ///< of KernelFamily; empty: collectives
  std::string arithmetic;  ///< of Arithmetic: bf16, fp8, int8
  std::string source;      ///< which rows it was fitted to, and who timed them
  const FormFit* fit = nullptr;
  GpuSheet sheet;
  std::string operation = {};  ///< of a collective: all_reduce; else empty
};

/// YAML of a device file that holds the fits. `command` writes it again; `calibration` is
/// <part>/<engine>-<version>. Two fits to the same timings give the same bytes.
std::string timed_kernels_yaml(const std::string& command, const std::string& calibration,
                               const std::string& part, const std::vector<WrittenForm>& forms);

/// The same for collectives, of which each operation occurs once.
std::string timed_collectives_yaml(const std::string& command, const std::string& calibration,
                                   const std::string& part, const std::vector<WrittenForm>& forms);

}  // namespace tiersim
