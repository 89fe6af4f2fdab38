#include "sim/sweep/design_space.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "sim/config/describe.hpp"

namespace tiersim::design_space_test {
namespace {

using ::testing::ElementsAre;

struct Built {
  std::unique_ptr<DesignSpace> space;
  std::string mistakes;
};

Built build(const std::string& text, const IsCount& is_count = {}) {
  Diagnostics diagnostics;
  const Document document = load_text(
      "schema: tiersim.sweep/v1\nname: test\nscenario: s.yaml\n" + text, "t.yaml", {}, diagnostics);
  const auto config = read<SweepConfig>(document, "sweep", diagnostics);
  Built out{DesignSpace::build(config, document, diagnostics, is_count), ""};
  for (const Diagnostic& diagnostic : diagnostics.list()) out.mistakes += diagnostic.text() + '\n';
  return out;
}

std::vector<SpacePoint> points(const Built& built) {
  std::vector<SpacePoint> out;
  if (!built.space) return out;
  const auto problem = built.space->for_each([&](const SpacePoint& point) {
    out.push_back(point);
    return true;
  });
  EXPECT_FALSE(problem) << problem->text();
  return out;
}

// "1 a | 2 b": labels of all points.
std::string labels(const Built& built) {
  std::string out = built.mistakes;
  for (const SpacePoint& point : points(built)) {
    if (!out.empty()) out += " | ";
    for (std::size_t i = 0; i < point.labels.size(); ++i)
      out += (i == 0 ? "" : " ") + (point.labels[i].empty() ? "-" : point.labels[i]);
  }
  return out;
}
std::string labels(const std::string& text, const IsCount& is_count = {}) {
  return labels(build(text, is_count));
}

bool any_count(const std::string&) {
  return true;
}

TEST(DesignSpace, IsTheProductOfItsAxesWithTheLastFastest) {
  const auto all = points(build(
      "set: [x.y=0]\naxes:\n  - {key: step.batch, values: [1, 2]}\n"
      "  - {name: method, variants: [{label: A, set: [m=a]}, {label: B, scenario: b.yaml}]}\n"));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0], (SpacePoint{0, "s.yaml", {"x.y=0", "step.batch=1", "m=a"}, {"1", "A"}}));
  EXPECT_EQ(all[1], (SpacePoint{1, "b.yaml", {"x.y=0", "step.batch=1"}, {"1", "B"}}));
  EXPECT_EQ(all[3].labels, (std::vector<std::string>{"2", "B"}));
}

TEST(DesignSpace, NamesAnAxisByTheLastWordOfItsKey) {
  const Built built = build(
      "axes:\n  - {key: step.batch, values: [1, 2]}\n"
      "  - {key: system.devices.3.bandwidth.value, values: [1 GB/s]}\n"
      "  - {key: a.mode, values: [on, 3]}\n");
  ASSERT_TRUE(built.space) << built.mistakes;
  const auto& columns = built.space->columns();
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[0].name, "batch");
  EXPECT_EQ(columns[1].name, "bandwidth");
  EXPECT_TRUE(columns[1].numeric);
  EXPECT_FALSE(columns[2].numeric);
}

TEST(DesignSpace, MovesZippedAxesTogether) {
  EXPECT_EQ(labels("axes:\n  - zip:\n      - {key: a, values: [1, 2]}\n"
                   "      - {key: b, values: [x, y]}\n  - {key: c, values: [8, 9]}\n"),
            "1 x 8 | 1 x 9 | 2 y 8 | 2 y 9");
}

TEST(DesignSpace, CrossesTheAxesAtTheTopWithThoseOfEachGrid) {
  EXPECT_EQ(labels("axes: [{key: a, values: [1, 2]}]\ngrids:\n"
                   "  - {name: g, axes: [{key: b, values: [5]}]}\n"
                   "  - {name: h, axes: [{key: c, values: [6, 7]}], filter: [a < 2]}\n"),
            "g 1 5 - | g 2 5 - | h 1 - 6 | h 1 - 7");
}

TEST(DesignSpace, DerivesSettingsAndColumns) {
  const auto all =
      points(build("axes: [{key: batch, values: [2, 4]}]\n"
                   "derived:\n  - {name: rows, expression: batch * 3}\n"
                   "  - {name: size, key: pool.size, expression: rows * 1 GB}\n"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].labels, (std::vector<std::string>{"4", "12", "12 GB"}));
  EXPECT_EQ(all[1].set, (std::vector<std::string>{"batch=4", "pool.size=12 GB"}));
}

TEST(DesignSpace, FiltersExcludesAndIncludes) {
  EXPECT_EQ(labels("axes:\n  - {key: a, values: [1, 2, 3]}\n  - {key: b, values: [1 KiB, 2 KiB]}\n"
                   "derived: [{name: sum, expression: a * b}]\n"
                   "filter: [sum <= 4 KiB]\nexclude: [{a: 1, b: 2048 B}]\n"
                   "include: [{a: 9, b: 1 GB}, {a: 2, b: 1 KiB}]\n"),
            "1 1 KiB 1 KiB | 2 1 KiB 2 KiB | 2 2 KiB 4 KiB | 3 1 KiB 3 KiB | 9 1 GB 9 GB");
}

TEST(DesignSpace, AppliesFiltersOfAxesBeforeAnythingIsDerived) {
  EXPECT_EQ(labels("axes: [{key: a, values: [0, 2]}]\nfilter: [a > 0]\n"
                   "derived: [{name: inverse, expression: 1 / a}]\n"),
            "2 0.5");
}

TEST(DesignSpace, CountsPositionsWithoutWhatIsFilteredAway) {
  const auto all = points(build("axes: [{key: a, values: [1, 2, 3, 4]}]\nfilter: [a % 2 == 0]\n"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].position, 0);
  EXPECT_EQ(all[1].position, 1);
}

TEST(DesignSpace, StopsWhereTheVisitorDoes) {
  const Built built = build("axes: [{key: a, range: {from: 1, to: 1000, step: 1}}]\n");
  int visited = 0;
  EXPECT_FALSE(built.space->for_each([&](const SpacePoint&) { return ++visited < 3; }));
  EXPECT_EQ(visited, 3);
}

TEST(DesignSpace, IsALatticeForSearches) {
  const Built built =
      build("axes: [{key: a, values: [1, 2]}, {key: b, values: [7, 8, 9]}]\nfilter: [b != 8]\n");
  ASSERT_EQ(built.space->grids(), 1U);
  EXPECT_THAT(built.space->sizes(0), ElementsAre(2, 3));
  EXPECT_EQ(built.space->at(0, {1, 2})->labels, (std::vector<std::string>{"2", "9"}));
  EXPECT_FALSE(built.space->at(0, {0, 1}));
  EXPECT_EQ(built.space->candidates(), 6);
}

TEST(ValueRange, MeetsBothEndsAndDoesNotDrift) {
  const auto axis = [](const std::string& range) {
    return labels("axes: [{key: a, " + range + "}]\n");
  };
  EXPECT_EQ(axis("range: {from: 0.1, to: 0.5, step: 0.1}"), "0.1 | 0.2 | 0.3 | 0.4 | 0.5");
  EXPECT_EQ(axis("range: {from: 10 GB/s, to: 40 GB/s, points: 4}"),
            "10 GB/s | 20 GB/s | 30 GB/s | 40 GB/s");
  EXPECT_EQ(axis("range: {from: 3, to: 1, step: -1}"), "3 | 2 | 1");
  EXPECT_EQ(axis("log_range: {from: 1, to: 64, factor: 4}"), "1 | 4 | 16 | 64");
  EXPECT_EQ(axis("log_range: {from: 1 GB/s, to: 1000 GB/s, points: 4}"),
            "1 GB/s | 10 GB/s | 0.1 TB/s | 1 TB/s");
  EXPECT_EQ(axis("log_range: {from: 64 KiB, to: 1 MiB, factor: 4}"), "64 KiB | 256 KiB | 1 MiB");
  EXPECT_EQ(axis("log_range: {from: 16, to: 1, factor: 4}"), "16 | 4 | 1");
  const auto many = points(build("axes: [{key: a, range: {from: 0, to: 1, points: 1001}}]\n"));
  ASSERT_EQ(many.size(), 1001U);
  EXPECT_EQ(many[300].labels[0], "0.3");
  EXPECT_EQ(many[999].labels[0], "0.999");
}

// Three axes of a million values each would take gigabytes to write down.
TEST(DesignSpace, OfTooManyPointsIsRefusedBeforeItsAxesAreMade) {
  const std::string range = "log_range: {from: 1, to: 64, points: 1000000}}";
  const Built built =
      build("axes: [{key: a, " + range + ", {key: b, " + range + ", {key: c, " + range + "]\n");
  EXPECT_EQ(
      built.mistakes,
      "t.yaml:4:7: error: axes: has more than 1000000000 points (fewer values, or values that "
      "are zipped)\n");
}

TEST(ValueRange, HasAsManyDigitsAsTellItsValuesApart) {
  EXPECT_EQ(
      points(build("axes: [{key: a, log_range: {from: 1, to: 64, points: 100000}}]\n")).size(),
      100000U);
  EXPECT_EQ(labels("axes: [{key: a, log_range: {from: 1, to: 1.0001, points: 3}}]\n"),
            "1 | 1.00005 | 1.0001");
  EXPECT_EQ(labels("axes: [{key: a, log_range: {from: 1, to: 1.000001, points: 3}}]\n"),
            "1 | 1.0000005 | 1.000001");
}

TEST(ValueRange, OfALogarithmHasEndsWhoseRatioIsANumber) {
  for (const char* ends :
       {"from: 1, to: 1e-308", "from: 5e-324, to: 1", "from: 1e-300, to: 1e300"}) {
    const Built built =
        build(std::string("axes: [{key: a, log_range: {") + ends + ", points: 4}}]\n");
    EXPECT_NE(built.mistakes.find("is out of range (allowed: 1e-150 to 1e+150)"), std::string::npos)
        << built.mistakes;
  }
}

TEST(ValueRange, OfACountIsOfWholeNumbersAndNoneTwice) {
  EXPECT_EQ(labels("axes: [{key: a, log_range: {from: 1, to: 8, points: 7}}]\n", any_count),
            "1 | 2 | 3 | 4 | 6 | 8");  // 1, 1.41, 2, 2.83, 4, 5.66, 8
  EXPECT_EQ(labels("axes: [{key: a, range: {from: 1, to: 2, points: 4}}]\n", any_count), "1 | 2");
}

TEST(DesignSpace, NamesAFaultOfAPointThatOnlyItHas) {
  const Built built =
      build("axes: [{key: a, values: [2, 1]}]\nderived: [{name: b, expression: 1 / (a - 1)}]\n");
  ASSERT_TRUE(built.space) << built.mistakes;
  const auto problem = built.space->for_each([](const SpacePoint&) { return true; });
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->text(), "t.yaml:5:35: error: derived.0.expression: division by zero at a = 1");
}

std::string with_sample(const std::string& method, int points, int seed = 1) {
  return "sample: {method: " + method + ", points: " + std::to_string(points) +
         ", seed: " + std::to_string(seed) + "}\n";
}

TEST(Sampling, DrawsAtRandomWithoutReplacement) {
  const std::string axes = "axes: [{key: a, range: {from: 1, to: 50, step: 1}}]\n";
  const auto all = points(build(axes + with_sample("random", 50)));
  std::set<std::string> seen;
  for (const SpacePoint& point : all) seen.insert(point.labels[0]);
  EXPECT_EQ(seen.size(), 50U);
  const auto some = points(build(axes + with_sample("random", 20)));
  for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i].labels, all[i].labels);
  EXPECT_NE(labels(axes + with_sample("random", 20, 2)), labels(axes + with_sample("random", 20)));
}

TEST(Sampling, MeetsEveryPartOfARangeOnce) {
  for (int seed = 1; seed <= 20; ++seed) {
    const auto all =
        points(build("axes:\n  - {key: x, range: {from: 0, to: 1, points: 2}}\n"
                     "  - {key: y, log_range: {from: 1, to: 1024, points: 2}}\n"
                     "  - {key: z, values: [p, q, r]}\n" +
                     with_sample("latin_hypercube", 10, seed)));
    ASSERT_EQ(all.size(), 10U);
    std::set<int> x;
    std::set<int> y;
    std::map<std::string, int> z;
    for (const SpacePoint& point : all) {
      x.insert(static_cast<int>(std::stod(point.labels[0]) * 10));
      y.insert(static_cast<int>(std::log2(std::stod(point.labels[1]))));
      ++z[point.labels[2]];
    }
    EXPECT_EQ(x.size(), 10U) << seed;
    EXPECT_EQ(y.size(), 10U) << seed;
    for (const auto& [label, count] : z) EXPECT_TRUE(count == 3 || count == 4) << label << seed;
  }
}

TEST(Sampling, KeepsItsMarginalsUnderFilters) {
  const Built built = build(
      "axes:\n  - {key: x, range: {from: 0, to: 1, points: 2}}\n"
      "  - {key: y, range: {from: 0, to: 1, points: 2}}\nfilter: [x + y < 1.5]\n" +
      with_sample("latin_hypercube", 40));
  const auto all = points(built);
  ASSERT_EQ(all.size(), 40U) << built.mistakes;
  std::set<int> x;
  std::set<int> y;
  for (const SpacePoint& point : all) {
    const double a = std::stod(point.labels[0]);
    const double b = std::stod(point.labels[1]);
    EXPECT_LT(a + b, 1.5);
    x.insert(static_cast<int>(a * 40));
    y.insert(static_cast<int>(b * 40));
  }
  EXPECT_EQ(x.size(), 40U);
  EXPECT_EQ(y.size(), 40U);
}

// Each twentieth of the range has 2500 even numbers, so the filter empties no part of any axis.
TEST(Sampling, DrawsAgainWithinAPartThatTheFilterCuts) {
  const Built built = build(
      "axes:\n  - {key: batch, range: {from: 1, to: 100000, step: 1}}\n"
      "  - {key: context, range: {from: 1, to: 1000, step: 1}}\nfilter: [batch % 2 == 0]\n" +
          with_sample("latin_hypercube", 20),
      any_count);
  const auto all = points(built);
  ASSERT_EQ(all.size(), 20U) << built.mistakes;
  std::set<int> batch_parts;
  std::set<int> context_parts;
  for (const SpacePoint& point : all) {
    const int batch = std::stoi(point.labels[0]);
    EXPECT_EQ(batch % 2, 0);
    batch_parts.insert((batch - 1) / 5000);
    context_parts.insert((std::stoi(point.labels[1]) - 1) / 50);
  }
  EXPECT_EQ(batch_parts.size(), 20U);
  EXPECT_EQ(context_parts.size(), 20U);
}

// Two points hit two of four values; the filter leaves just two, which both are found.
TEST(Sampling, TakesAnotherValueOfAListThatIsAsRare) {
  for (int seed = 1; seed <= 10; ++seed) {
    const auto all = points(build("axes: [{key: a, values: [1, 2, 3, 4]}]\nfilter: [a > 2]\n" +
                                  with_sample("latin_hypercube", 2, seed)));
    std::set<std::string> seen;
    for (const SpacePoint& point : all) seen.insert(point.labels[0]);
    EXPECT_EQ(seen, (std::set<std::string>{"3", "4"})) << seed;
  }
}

TEST(Sampling, NamesThePartsThatAFilterEmpties) {
  EXPECT_EQ(build("axes: [{key: batch, range: {from: 1, to: 100000, step: 1}}]\n"
                  "filter: [batch <= 50000]\n" +
                      with_sample("latin_hypercube", 20),
                  any_count)
                .mistakes,
            "t.yaml:6:1: error: only 10 of 20 points could be placed; none was found in 10 of the "
            "20 parts of 'batch', of which the first begins at 50001 (method: random, weaker "
            "filters, or axes that they do not cut)\n");
}

TEST(Sampling, GivesCountsAsWholeNumbersEachEquallyOften) {
  const auto all =
      points(build("axes: [{key: n, range: {from: 1, to: 4, step: 1}}, "
                   "{key: x, range: {from: 0, to: 1, points: 2}}]\n" +
                       with_sample("latin_hypercube", 40),
                   [](const std::string& key) { return key == "n"; }));
  std::map<std::string, int> counts;
  for (const SpacePoint& point : all) ++counts[point.labels[0]];
  EXPECT_EQ(counts, (std::map<std::string, int>{{"1", 10}, {"2", 10}, {"3", 10}, {"4", 10}}));
}

TEST(Sampling, SaysHowManyPointsThereAre) {
  const std::string axes = "axes: [{key: a, values: [1, 2, 3, 4]}]\nfilter: [a < 3]\n";
  EXPECT_EQ(build(axes + with_sample("random", 3)).mistakes,
            "t.yaml:6:1: error: the space has only 2 points (fewer points, or weaker filters)\n");
  EXPECT_EQ(build(axes + with_sample("latin_hypercube", 4)).mistakes,
            "t.yaml:6:1: error: only 2 of 4 points could be placed; none was found with a = 3 or 4 "
            "(method: random, weaker filters, or axes that they do not cut)\n");
}

TEST(Sampling, KeepsIncludedPoints) {
  EXPECT_EQ(
      labels("axes: [{key: a, values: [1, 2, 3]}]\ninclude: [{a: 9}]\n" + with_sample("random", 3))
          .substr(10),
      "| 9");
}

}  // namespace
}  // namespace tiersim::design_space_test
