#pragma once
// log, exp and pow from IEEE +, -, *, / and bit operations only, so that a result has the same bits
// with every compiler and C library. The relative error is below 4e-16 (log, exp) and 1e-13 (pow,
// |y| <= 64), as tests/unit/base checks. They are used wherever a result or an event time depends
// on the value.
namespace tiersim {

/// Natural logarithm; x > 0 and normal.
double portable_log(double x);
/// e^x for |x| <= 700.
double portable_exp(double x);
/// x^y for x > 0.
double portable_pow(double x, double y);

}  // namespace tiersim
