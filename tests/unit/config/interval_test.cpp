// 95 % intervals of numbers: reading, writing, display, and errors.
#include <gtest/gtest.h>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::interval_test {
namespace {

using namespace sample;

constexpr std::string_view kPeak = "4800 GB/s";

std::string with_interval(std::string_view ends) {
  return with(
      kPeak, "{value: 4800 GB/s, class: fitted, ci95: " + std::string(ends) + ", source: timings}");
}
const Sourced<Bandwidth>& peak(const Read& got) {
  return got.config.devices.at("hbm").memory.peak;
}
Bandwidth terabytes_a_second(std::int64_t tenths) {
  return Bandwidth::from_base(tenths * 100'000'000'000);
}

TEST(Intervals, AreReadWithUnitsBesideTheirValue) {
  const Read got = read_text(with_interval("[4.7 TB/s, 5000 GB/s]"));
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(peak(got).value, terabytes_a_second(48));
  ASSERT_TRUE(peak(got).ci95);
  EXPECT_EQ(peak(got).ci95->low, terabytes_a_second(47));
  EXPECT_EQ(peak(got).ci95->high, terabytes_a_second(50));
}

TEST(Intervals, MayBeAsNarrowAsTheirValue) {
  const Read got = read_text(with_interval("[4800 GB/s, 4800 GB/s]"));
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(peak(got).ci95->low, peak(got).ci95->high);
}

TEST(Intervals, StandInTheCanonicalTextAndComeBackFromIt) {
  const Read got = read_text(with_interval("[4.7 TB/s, 5000 GB/s]"));
  const std::string text = canonical_json(got.config);
  EXPECT_NE(text.find(R"("peak":{"value":"4.8 TB/s","class":"fitted",)"
                      R"("ci95":["4.7 TB/s","5 TB/s"],"source":"timings"})"),
            std::string::npos)
      << text;
  EXPECT_EQ(canonical_json(read_text(text).config), text);
}

TEST(Intervals, MakeAnotherRunId) {
  const std::string none = canonical_text_for_id(
      read_text(with(kPeak, "{value: 4800 GB/s, class: fitted, source: timings}")).config);
  const std::string narrow =
      canonical_text_for_id(read_text(with_interval("[4.7 TB/s, 5 TB/s]")).config);
  const std::string wide =
      canonical_text_for_id(read_text(with_interval("[4 TB/s, 5 TB/s]")).config);
  EXPECT_NE(none, narrow);
  EXPECT_NE(narrow, wide);
  EXPECT_EQ(none.find("ci95"), std::string::npos);
}

TEST(Intervals, AreListedWithTheirNumbers) {
  const auto numbers = list_numbers(read_text(with_interval("[4.7 TB/s, 5 TB/s]")).config);
  ASSERT_EQ(numbers.size(), 3U);
  EXPECT_FALSE(numbers[0].ci95);
  ASSERT_TRUE(numbers[1].ci95);
  EXPECT_EQ(numbers[1].ci95->low, "4.7 TB/s");
  EXPECT_EQ(numbers[1].ci95->high, "5 TB/s");
}

TEST(Intervals, AreShownAndLoadedAgain) {
  const Read got = read_text(with_interval("[4.7 TB/s, 5 TB/s]"));
  const std::string shown = show_config(got.document, got.config);
  EXPECT_NE(shown.find("    peak: {value: 4.8 TB/s, class: fitted, ci95: [4.7 TB/s, 5 TB/s], "
                       "source: timings}  # a.yaml:8\n"),
            std::string::npos)
      << shown;
  EXPECT_EQ(canonical_json(read_text(shown).config), canonical_json(got.config));
}

TEST(Intervals, AreInTheSchema) {
  const std::string schema = json_schema<Experiment>("experiment", "An experiment");
  const std::size_t at = schema.find("\"ci95\": {");
  ASSERT_NE(at, std::string::npos);
  const std::string part = schema.substr(at, schema.find("\"source\"", at) - at);
  EXPECT_NE(part.find("\"type\": \"array\""), std::string::npos) << part;
  EXPECT_NE(part.find("\"minItems\": 2"), std::string::npos) << part;
  EXPECT_NE(part.find("\"maxItems\": 2"), std::string::npos) << part;
}

TEST(Intervals, GoWithTheirValue) {
  const std::string text = with_interval("[4.7 TB/s, 5 TB/s]");
  for (const char* option : {"devices.hbm.peak.value=4 TB/s", "devices.hbm.peak=4 TB/s",
                             "devices.hbm.peak={value: 4 TB/s, class: assumed, source: x}"}) {
    const Read got = read_text(text, {option});
    EXPECT_EQ(got.mistakes, "") << option;
    EXPECT_EQ(peak(got).value, terabytes_a_second(40));
    EXPECT_FALSE(peak(got).ci95) << option;
  }
  // A better citation of a source does not change the value.
  EXPECT_TRUE(peak(read_text(text, {"devices.hbm.peak.source=table 2"})).ci95);
}

TEST(Intervals, OfABaseAreNotThoseOfTheValueOverIt) {
  const Folder folder("interval");
  folder.write("below.yaml", with_interval("[4.7 TB/s, 5 TB/s]"));
  const auto over = [&](const std::string& peak, const std::vector<std::string>& set = {}) {
    const auto top = folder.write(
        "top.yaml",
        "schema: tiersim.experiment/v1\nbase: below.yaml\ndevices: {hbm: {peak: " + peak + "}}\n");
    Diagnostics diagnostics;
    const Document document = load_document(top, {.overrides = set}, diagnostics);
    auto config = read<Experiment>(document, "experiment", diagnostics);
    return Read{document, std::move(config), diagnostics.text()};
  };
  const Read other = over("{value: 9 TB/s, class: assumed, source: x}");
  EXPECT_EQ(other.mistakes, "");
  EXPECT_FALSE(peak(other).ci95);
  const Read widened = over("{ci95: [4 TB/s, 6 TB/s]}");
  EXPECT_EQ(widened.mistakes, "");
  EXPECT_EQ(peak(widened).ci95->low, terabytes_a_second(40));
  // The value of the option is outside of the file's interval.
  const Read set = over("{ci95: [4 TB/s, 6 TB/s]}", {"devices.hbm.peak.value=9 TB/s"});
  EXPECT_EQ(set.mistakes, "");
  EXPECT_FALSE(peak(set).ci95);
}

TEST(Intervals, FromTheCommandLineSaySo) {
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{"devices.hbm.peak.ci95=[4 TB/s, 5 TB/s]"},
        std::vector<std::string>{"devices.hbm.peak.ci95.0=4 TB/s"}}) {
    const Read got = read_text(with_interval("[4.7 TB/s, 5 TB/s]"), set);
    EXPECT_EQ(got.mistakes, "");
    EXPECT_EQ(peak(got).ci95->low, terabytes_a_second(40));
    EXPECT_EQ(peak(got).ci95->high, terabytes_a_second(50));
    EXPECT_EQ(peak(got).number_class, NumberClass::fitted);
    EXPECT_EQ(peak(got).source, "timings; interval from the command line");
  }
  // Both rules hold in either order.
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{"devices.hbm.peak.value=4 TB/s",
                                 "devices.hbm.peak.ci95=[3 TB/s, 5 TB/s]"},
        std::vector<std::string>{"devices.hbm.peak.ci95=[3 TB/s, 5 TB/s]",
                                 "devices.hbm.peak.value=4 TB/s"}}) {
    const Read got = read_text(with_interval("[4.7 TB/s, 5 TB/s]"), set);
    EXPECT_EQ(got.mistakes, "");
    EXPECT_TRUE(peak(got).ci95);
    EXPECT_EQ(peak(got).source, "command line");
  }
}

// Three numbers that were estimated together, and a count.
struct Fit {
  Sourced<double> a{1, NumberClass::assumed, "a"};
  Sourced<double> b{1, NumberClass::assumed, "b"};
  Sourced<double> c{1, NumberClass::assumed, "c"};
  Sourced<std::int64_t> lanes{4, NumberClass::assumed, "lanes"};
  std::vector<double> correlation;
};
void describe(Fields& f, Fit& c) {
  f.optional("a", c.a, "A.");
  f.optional("b", c.b, "B.");
  f.optional("c", c.c, "C.");
  f.optional("lanes", c.lanes, "Lanes.", one_of({1, 4, 16}));
  f.optional("correlation", c.correlation, "Of a, b and c.", in_range(-1.0, 1.0));
  f.correlated({"a", "b", "c"}, "correlation", c.correlation);
}

std::string told(const std::string& text) {
  Diagnostics diagnostics;
  const Document document = load_text(text, "a.yaml", {}, diagnostics);
  static_cast<void>(read<Fit>(document, "fit", diagnostics));
  return diagnostics.text();
}

// The peak of 4.8 TB/s has no class or source, and is replaced or given more members.
TEST(Intervals, OfANumberThatStandsAloneLeaveItThere) {
  const std::string bare(kText);  // peak: 4800 GB/s
  const Read told_of = read_text(bare, {"devices.hbm.peak.ci95=[4 TB/s, 5 TB/s]"});
  EXPECT_EQ(told_of.mistakes, "");
  EXPECT_EQ(peak(told_of).value, terabytes_a_second(48));
  ASSERT_TRUE(peak(told_of).ci95);
  EXPECT_EQ(peak(told_of).ci95->low, terabytes_a_second(40));
  EXPECT_EQ(peak(told_of).number_class, NumberClass::assumed);
  EXPECT_EQ(peak(told_of).source, "not stated; interval from the command line");
  // The command line wins, over a bare number in the file as well as over one with a source.
  for (const std::string& text : {bare, with_interval("[4.7 TB/s, 5 TB/s]")}) {
    const Read anew =
        read_text(text, {"devices.hbm.peak=4.2 TB/s", "devices.hbm.peak.ci95=[4 TB/s, 6 TB/s]"});
    EXPECT_EQ(anew.mistakes, "");
    EXPECT_EQ(peak(anew).value, terabytes_a_second(42));
    ASSERT_TRUE(peak(anew).ci95);
    EXPECT_EQ(peak(anew).ci95->high, terabytes_a_second(60));
    EXPECT_EQ(peak(anew).number_class, NumberClass::assumed);
    EXPECT_EQ(peak(anew).source, "command line");
    const Read cited = read_text(text, {"devices.hbm.peak=4.2 TB/s", "devices.hbm.peak.source=t2",
                                        "devices.hbm.peak.class=specification"});
    EXPECT_EQ(cited.mistakes, "");
    EXPECT_EQ(peak(cited).value, terabytes_a_second(42));
    EXPECT_FALSE(peak(cited).ci95);
    EXPECT_EQ(peak(cited).number_class, NumberClass::specification);
    EXPECT_EQ(peak(cited).source, "t2");
  }
}

// Members of the base's number do not apply to the number that replaces it.
TEST(Intervals, OfANumberAloneOverABaseTakeNothingFromThere) {
  const Folder folder("alone");
  folder.write("below.yaml", with_interval("[4.7 TB/s, 5 TB/s]"));
  const auto top = folder.write("top.yaml",
                                "schema: tiersim.experiment/v1\nbase: below.yaml\n"
                                "devices: {hbm: {peak: 4.2 TB/s}}\n");
  Diagnostics diagnostics;
  const Document document =
      load_document(top, {.overrides = {"devices.hbm.peak.ci95=[4 TB/s, 5 TB/s]"}}, diagnostics);
  Read got{document, read<Experiment>(document, "experiment", diagnostics), ""};
  EXPECT_EQ(diagnostics.text(), "");
  EXPECT_EQ(peak(got).value, terabytes_a_second(42));
  EXPECT_EQ(peak(got).number_class, NumberClass::assumed);
  EXPECT_EQ(peak(got).source, "not stated; interval from the command line");
}

TEST(Correlations, OfNumbersThatCanHaveThemAreTaken) {
  EXPECT_EQ(told("correlation: []\n"), "");
  EXPECT_EQ(told("correlation: [0.5, -0.5, 0]\n"), "");
  EXPECT_EQ(told("correlation: [1, -1, -1]\n"), "");  // b = a and c = -a
  // a = (b + c) / sqrt(2) has 0.70711 with both. Rounded up to 0.7075 the smallest eigenvalue is
  // 1 - 0.7075 sqrt(2) = -0.0006, and rounding three elements may make it -0.001.
  EXPECT_EQ(told("correlation: [0.7075, 0.7075, 0]\n"), "");
}

TEST(Correlations, ThatNoNumbersCanHaveAreRefused) {
  EXPECT_EQ(told("a: 2\ncorrelation: [0.9, 0.9, -0.9]\n"),
            "a.yaml:2:1: error: correlation: cannot be correlations of any numbers: the matrix is "
            "not positive semi-definite\n");
  // 0.71^2 + 0.71^2 = 1.0082: the smallest eigenvalue is 1 - 1.0041 = -0.0041.
  EXPECT_NE(told("correlation: [0.71, 0.71, 0]\n"), "");
  EXPECT_EQ(
      told("correlation: [0.9, 0.9]\n"),
      "a.yaml:1:1: error: correlation: has 2 elements; 3 numbers have 3 pairs (of a, b, c: 12 "
      "13 14 ... 23 24 ...)\n");
  EXPECT_EQ(told("correlation: [0.9, 0.9, 1.5]\n"),
            "a.yaml:1:25: error: correlation.2: '1.5' is out of range (allowed: -1 to 1)\n");
}

TEST(Intervals, OfAChoiceAreRefused) {
  EXPECT_EQ(told("lanes: {value: 4, class: assumed, ci95: [1, 16], source: x}\n"),
            "a.yaml:1:35: error: lanes.ci95: cannot be given (the value is one of: 1, 4, 16)\n");
}

}  // namespace
}  // namespace tiersim::interval_test
