#pragma once
// Reads a text as a file of timings named "f", for tests of the readers.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hwmodels/calibrate/read/plausibility.hpp"
#include "hwmodels/calibrate/read/read_timings.hpp"

namespace tiersim::testing {

// The set of a text that must be accepted.
inline TimingSet read(const std::string& text, const ReadOptions& options = {}) {
  const auto timings = read_timings("f", text, options);
  EXPECT_TRUE(timings.has_value()) << (timings ? "" : timings.error().text());
  return timings ? *timings : TimingSet{};
}

// The error message for a text that must be refused.
inline std::string told(const std::string& text, const ReadOptions& options = {}) {
  const auto timings = read_timings("f", text, options);
  return timings ? std::string("read") : timings.error().text();
}

inline std::vector<std::string> refusals(const TimingSet& set) {
  std::vector<std::string> out;
  for (const TimingRefusal& refusal : set.refused) out.push_back(text(refusal));
  return out;
}

}  // namespace tiersim::testing
