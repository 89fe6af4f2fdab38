#pragma once
// How many rows a choice comes to, in the mean, where all that is known is how many are chosen: the
// choices are taken as uniform over the context. Real choices cluster, so that these are upper
// bounds in practice; a measured share can be put in their place by head_overlap and reuse.
#include <cstdint>

namespace tiersim {

/// A mean as a whole number, rounded up. What exceeds a whole number by 1e-9 of itself is that
/// number: it comes from the rounding of a share such as 0.07, not from a row more.
std::int64_t whole_up(double mean);
/// The same, rounded down.
std::int64_t whole_down(double mean);

/// Distinct rows that `heads` independent heads choose, each `chosen` of `rows`:
/// rows * (1 - (1 - chosen / rows)^heads), rounded up; at least `chosen`, at most all. `heads` is a
/// real number >= 1: heads that agree in part count as fewer. Never falls when `chosen` grows.
std::int64_t expected_union(std::int64_t rows, std::int64_t chosen, double heads);

/// Pages that `chosen` of `rows` fall on, with `page` rows each, the last one perhaps fewer. A page
/// of p rows is missed with C(rows - p, chosen) / C(rows, chosen), which is the product over i < p
/// of (rows - chosen - i) / (rows - i): exact, not the usual (1 - chosen / rows)^p. Rounded up; at
/// least chosen / page, at most all. Never falls when `chosen` grows.
std::int64_t expected_pages(std::int64_t rows, std::int64_t chosen, std::int64_t page);

}  // namespace tiersim
