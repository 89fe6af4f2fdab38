#pragma once
// Quantiles of Student's t distribution, for intervals of means of few values.
#include <cstdint>

namespace tiersim {

/// The 97.5 % quantile of Student's t with `degrees` >= 1 of freedom; relative error below 0.1 %.
double student_t_975(std::int64_t degrees);

}  // namespace tiersim
