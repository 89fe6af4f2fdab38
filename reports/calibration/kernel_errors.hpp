#pragma once
// Times of kernels beside what a system, or a fit that did not see them, says: errors by GPU,
// engine, family and type.
#include <optional>
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/calibrate/table/timing_table_config.hpp"
#include "reports/render/figure.hpp"
#include "sim/base/table.hpp"
#include "sim/validate/timed_rows.hpp"

namespace tiersim {

/// The rows of one family and type of operands, of one GPU and engine.
struct KernelErrors {
  std::string gpu;     ///< part: "h200"
  std::string engine;  ///< "vllm 0.24.0", as the file's name has it
  std::string table;   ///< description of the file: "gemm"
  std::string family;  ///< name of a KernelFamily
  std::string dtype;
  std::string by;  ///< the calibrations that answered, or how a fit was held out
  std::int64_t kernels = 0;
  std::vector<RowAnswer> rows = {};
  double noise = 0;                    ///< median spread of repeated rows; 0: no repeats
  std::optional<TableGoal> goal = {};  ///< errors that are aimed at
};

/// Errors of the rows, as (simulated - measured) / measured.
FitErrors errors_of(const KernelErrors& kernel);
/// True where a goal is stated and missed.
bool misses_goal(const KernelErrors& kernel);

Table kernel_errors_table(const std::vector<KernelErrors>& all);
/// {families: [{family, dtype, gpu, engine, by, kernels, rows, beyond, median_abs, p90_abs, bias,
/// within, noise, goal, missed, by_time: [{from_us, to_us, rows, median_abs, p90_abs, bias}]}]}.
/// Shares are fractions.
std::string to_json(const std::vector<KernelErrors>& all);

/// Simulated over measured time against the measured time, a picture for each GPU, a panel for each
/// family.
std::vector<Figure> charts_of(const std::vector<KernelErrors>& all);

}  // namespace tiersim
