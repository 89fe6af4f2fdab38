#include "sim/base/text.hpp"

#include <gtest/gtest.h>

#include "sim/base/check.hpp"
#include "sim/base/id.hpp"
#include "sim/base/number_class.hpp"

namespace tiersim::text_test {
namespace {

TEST(Excerpt, IsTheBeginOfTheFirstLine) {
  EXPECT_EQ(excerpt("a b"), "a b");
  EXPECT_EQ(excerpt("a\nb"), "a...");
  EXPECT_EQ(excerpt(std::string(200, 'a')), std::string(200, 'a'));
  EXPECT_EQ(excerpt(std::string(201, 'a')), std::string(200, 'a') + "...");
  // Each of these characters has two bytes; the 200th byte is the begin of one.
  std::string umlauts = "a";
  for (int i = 0; i < 150; ++i) umlauts += "\xc3\xa4";
  EXPECT_EQ(excerpt(umlauts), umlauts.substr(0, 199) + "...");
}

TEST(WithoutLongWords, CutsWordsAndWholeTexts) {
  EXPECT_EQ(without_long_words("a  b "), "a  b ");
  EXPECT_EQ(without_long_words("a " + std::string(300, 'b') + " c"),
            "a " + std::string(200, 'b') + "... c");
  std::string words;
  for (int i = 0; i < 3000; ++i) words += "ab ";
  EXPECT_EQ(without_long_words(words), words.substr(0, 4000) + "...");
}

TEST(Text, EditDistanceCountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

TEST(Text, EditDistanceCountsTwoNeighboursInTheWrongOrderAsOneEdit) {
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
  EXPECT_EQ(edit_distance("mapel", "maple"), 1U);
  EXPECT_EQ(edit_distance("pcei.to_gup", "pcie.to_gpu"), 2U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // not 2: that would edit a byte twice
}

TEST(Text, NearestFindsTyposButNotStrangers) {
  const std::vector<std::string> keys{"bandwidth", "capacity", "latency"};
  EXPECT_EQ(nearest("bandwith", keys), "bandwidth");
  EXPECT_EQ(nearest("lag", keys), "");
  EXPECT_EQ(nearest("rnu", std::vector<std::string>{"man", "run"}), "run");  // three letters
}

TEST(Text, PrintableEscapesWhatATerminalObeys) {
  EXPECT_EQ(printable("plain, \xc3\xa9 \xe6\xb8\xac \xf0\x9f\x98\x80 \\"),
            "plain, \xc3\xa9 \xe6\xb8\xac \xf0\x9f\x98\x80 \\");
  EXPECT_EQ(printable("\x1b[31m\a\n\t\r\x7f"), "\\x1b[31m\\x07\\n\\t\\x0d\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\u009b"
            "2J");  // CSI as one character
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x"),
            "\\u202e"
            "x");                                          // right to left
  EXPECT_EQ(printable("\x9b \xc3 \xc0\x80 \xed\xa0\x80"),  // no UTF-8
            "\\x9b \\xc3 \\xc0\\x80 \\xed\\xa0\\x80");
}

TEST(NumberClass, WeakestOfSeveralIsTheLeastTrusted) {
  EXPECT_EQ(weakest(NumberClass::measured, NumberClass::assumed), NumberClass::assumed);
  EXPECT_EQ(weakest(NumberClass::fitted, NumberClass::measured), NumberClass::fitted);
}

TEST(IdDeathTest, AnUnsetIdHasNoIndex) {
  EXPECT_EQ(Id<struct AnyTag>(3).index(), 3U);
  EXPECT_DEATH(static_cast<void>(Id<struct AnyTag>().index()), "precondition violated: valid");
}

TEST(CheckDeathTest, AFailedCheckPrintsTheConditionAndTheValues) {
  const int have = 3;
  const int want = 4;
  EXPECT_DEATH(TS_INVARIANT(have == want, have, want),
               "invariant violated: have == want \\[have, want = 3 4\\]");
}

}  // namespace
}  // namespace tiersim::text_test
