#pragma once
// The digest of what goes beyond a paper: one table, a row for each variant, a column for each
// study or question that is worth a number. Data in reports/targets.
#include <span>
#include <string>
#include <vector>

#include "reports/papers/studies/solve_result.hpp"
#include "reports/papers/studies/study_result.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// The table; empty where the digest has no columns. What a study or question does not answer for a
/// variant is "-".
Table digest_table(const Digest& digest, std::span<const StudyResult* const> studies,
                   std::span<const SolveResult> solves);

}  // namespace tiersim
