#pragma once

namespace tiersim {

/// (a^p + b^p)^(1/p), never below the larger; a, b >= 0, p > 0. Portable arithmetic.
double blend(double a, double b, double p);

}  // namespace tiersim
