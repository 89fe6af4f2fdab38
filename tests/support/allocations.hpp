#pragma once
#include <cstdint>

namespace tiersim::testing {

/// Calls of operator new so far, in a program that links allocations.cpp.
std::uint64_t allocations();

}  // namespace tiersim::testing
