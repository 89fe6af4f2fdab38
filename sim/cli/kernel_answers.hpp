#pragma once
// Errors of kernel times: those of a system, or of fits that have not seen what they are asked.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/calibration/kernel_errors.hpp"
#include "sim/cli/kernel_tables.hpp"

namespace tiersim::cli {

/// What a fit must not have seen of the rows that it is asked about.
enum class HoldOut : std::uint8_t { nothing, shape, engine, gpu };
inline constexpr std::array<std::string_view, 4> kHoldOutNames{"nothing", "shape", "engine", "gpu"};

struct KernelQuestion {
  HoldOut hold_out = HoldOut::nothing;
  std::string system;            ///< a file; empty: the first of the GPU that was timed
  std::vector<std::string> set;  ///< settings of the system
};

/// Errors by table and type of operands, in the order of the tables. `jobs` tables at a time.
/// Throws Failure of the first table that cannot be read.
std::vector<KernelErrors> answer_tables(const KernelQuestion& question,
                                        const std::vector<KernelTable>& tables, std::int64_t jobs);

}  // namespace tiersim::cli
