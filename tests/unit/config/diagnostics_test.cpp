#include "sim/config/diagnostics.hpp"

#include <gtest/gtest.h>

namespace tiersim::diagnostics_test {
namespace {

TEST(Diagnostics, AreSortedByFileLineAndColumn) {
  Diagnostics diagnostics;
  EXPECT_TRUE(diagnostics.ok());
  diagnostics.report({{"b", 1, 1}, "fourth"});
  diagnostics.report({{"a", 10, 1}, "third"});
  diagnostics.report({{"a", 9, 2}, "second"});
  diagnostics.report({{"a", 9, 1}, "first", "a hint", "a.path"});
  EXPECT_FALSE(diagnostics.ok());
  EXPECT_EQ(diagnostics.text(),
            "a:9:1: error: a.path: first (a hint)\n"
            "a:9:2: error: second\n"
            "a:10:1: error: third\n"
            "b:1:1: error: fourth\n");
}

TEST(Diagnostics, ListAMistakeInASharedBaseOnce) {
  Diagnostics diagnostics;
  diagnostics.report({{"device", 3, 1}, "unknown key 'x'", "", "gpu"});
  diagnostics.report({{"device", 3, 1}, "unknown key 'x'", "", "sm"});
  EXPECT_EQ(diagnostics.text(), "device:3:1: error: gpu: unknown key 'x'\n");
}

TEST(Diagnostics, ShowTextOfAFileAndObeyNoneOfIt) {
  const Diagnostic quoted{{"a\nb", 1, 1}, "unknown key '\x1b[2J'", "did you mean '\r'?", "x"};
  EXPECT_EQ(quoted.text(), "a\\nb:1:1: error: x: unknown key '\\x1b[2J' (did you mean '\\x0d'?)");
}

}  // namespace
}  // namespace tiersim::diagnostics_test
