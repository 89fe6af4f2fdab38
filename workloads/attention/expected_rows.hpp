#pragma once
// Expected numbers of rows and pages when only the number of choices is known: the choices are
// assumed to be uniform over the context. Real choices cluster, so these are upper bounds in
// practice; head_overlap and reuse can hold measured shares instead.
#include <cstdint>

namespace tiersim {

/// A mean as a whole number, rounded up. An excess of up to 1e-9 of the number itself is ignored:
/// it comes from the rounding of a share such as 0.07.
std::int64_t whole_up(double mean);
/// Like whole_up(), rounded down.
std::int64_t whole_down(double mean);

/// Expected number of distinct rows that `heads` independent heads choose, each `chosen` of `rows`:
/// rows * (1 - (1 - chosen / rows)^heads), rounded up; at least `chosen`, at most `rows`. `heads`
/// is a real number >= 1, since heads that agree in part count as fewer. The result never falls
/// when `chosen` grows.
std::int64_t expected_union(std::int64_t rows, std::int64_t chosen, double heads);

/// Expected number of pages that `chosen` of `rows` rows fall on, with `page` rows each (the last
/// page may have fewer). A page of p rows is missed with probability C(rows - p, chosen) / C(rows,
/// chosen), which is the product over i < p of (rows - chosen - i) / (rows - i). This is exact,
/// unlike the usual (1 - chosen / rows)^p. Rounded up; at least chosen / page, at most all pages.
/// The result never falls when `chosen` grows.
std::int64_t expected_pages(std::int64_t rows, std::int64_t chosen, std::int64_t page);

}  // namespace tiersim
