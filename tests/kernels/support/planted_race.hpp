// For tests whose planted mistake is a race: the emulator's schedules must catch it by its result,
// in builds where nothing else ends the test first. That ThreadSanitizer itself reports such
// mistakes is held in tests/kernels/emulator/race_test.cpp, in processes that expect the report.
#pragma once
#include <gtest/gtest.h>

#include "kernels/emulator/sanitizer.hpp"

#define TS_SKIP_UNDER_TSAN() \
  if (TS_EMULATOR_TSAN) GTEST_SKIP() << "a race on purpose, which ThreadSanitizer reports"
