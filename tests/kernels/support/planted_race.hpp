// For tests whose planted mistake is a race. The emulator's schedules must catch it by its result,
// in builds without a sanitizer that ends the test first. tests/kernels/emulator/race_test.cpp
// checks in separate processes that ThreadSanitizer reports such mistakes.
#pragma once
#include <gtest/gtest.h>

#include "kernels/emulator/sanitizer.hpp"

#define TS_SKIP_UNDER_TSAN() \
  if (TS_EMULATOR_TSAN) GTEST_SKIP() << "a race on purpose, which ThreadSanitizer reports"
