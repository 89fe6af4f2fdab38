#pragma once
// The digest of the results beyond a paper: one table with a row for each variant and a column for
// each study or question whose result is one number. Data in reports/targets.
#include <span>
#include <string>
#include <vector>

#include "reports/papers/studies/solve_result.hpp"
#include "reports/papers/studies/study_result.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// The table; empty where the digest has no columns. A cell is "-" where the study or question has
/// no value for the variant.
Table digest_table(const Digest& digest, std::span<const StudyResult* const> studies,
                   std::span<const SolveResult> solves);

}  // namespace tiersim
