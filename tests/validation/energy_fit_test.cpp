// The fitted energy of H100 and B200, recomputed from the measured runs that it was fitted to
// (configs/calibration/energy). The power of a run is linear in active_power and energy_per_flop,
// so that three simulations of it give the coefficients, and least squares of relative errors give
// the two numbers. Their 95 % intervals are those of the residuals (Student), with the fits that
// leave out one of the three models.
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <boost/math/distributions/students_t.hpp>

#include "sim/validate/published_score.hpp"
#include "sim/validate/run_table.hpp"
#include "tests/support/served.hpp"

namespace tiersim::energy_fit_test {
namespace {

// Above this share of the board's power clocks fall, and rows are left out.
constexpr double kClocksFall = 0.93;

// A measured run: shares of its power [1/W, 1/(pJ/FLOP)], and the share that is neither.
struct Row {
  std::string model;
  double active = 0;
  double flop = 0;
  double rest = 0;
};

PublishedRuns measured_runs() {
  Diagnostics diagnostics;
  const Document document = load_document(testing::configs() / "run_tables/ml_energy.yaml",
                                          {.config_root = testing::configs()}, diagnostics);
  const auto table = read<RunTableConfig>(document, "run_table", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  const std::filesystem::path file = testing::configs() / "calibration/energy/served_runs.csv";
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  auto read = read_run_table(file.string(), text.str(), table);
  EXPECT_TRUE(read);
  return std::move(read->runs);
}

double simulated_power(const PublishedGroup& group, const PublishedRun& run, const char* active,
                       const char* flop) {
  std::vector<std::string> set = settings_of(group, run);
  set.push_back(std::string("system.gpu.active_power=") + active);
  set.push_back(std::string("system.gpu.energy_per_flop=") + flop);
  const RunRecord record = testing::served(group.config, set);
  return record.metrics.at(std::string(record_metric(PublishedMetric::power))).value;
}

std::vector<Row> rows_of(const PublishedRuns& runs, const std::string& card, double board) {
  std::vector<Row> out;
  for (const PublishedGroup& group : runs.groups)
    for (const PublishedRun& run : group.runs) {
      const double measured = *run.published.power;
      if (run.labels.at("rows") != card + ", fitted" || measured > kClocksFall * board) continue;
      const double base = simulated_power(group, run, "0 W", "0 pJ/FLOP");
      const double active = simulated_power(group, run, "100 W", "0 pJ/FLOP") - base;
      const double flop = simulated_power(group, run, "0 W", "0.1 pJ/FLOP") - base;
      const std::string model = run.id.substr(0, run.id.find("-s"));
      out.push_back({model, active / 100 / measured, flop / 0.1 / measured, 1 - base / measured});
    }
  return out;
}

struct Fit {
  double active = 0, flop = 0;              // W, pJ/FLOP
  double active_reach = 0, flop_reach = 0;  // half of the 95 % intervals
  std::vector<double> residuals = {};
};

// Normal equations of two unknowns.
Fit fit(const std::vector<Row>& rows) {
  double aa = 0, ff = 0, af = 0, ar = 0, fr = 0;
  for (const Row& row : rows) {
    aa += row.active * row.active;
    ff += row.flop * row.flop;
    af += row.active * row.flop;
    ar += row.active * row.rest;
    fr += row.flop * row.rest;
  }
  const double determinant = aa * ff - af * af;
  Fit out{.active = (ar * ff - fr * af) / determinant, .flop = (fr * aa - ar * af) / determinant};
  double squares = 0;
  for (const Row& row : rows) {
    out.residuals.push_back(row.rest - row.active * out.active - row.flop * out.flop);
    squares += out.residuals.back() * out.residuals.back();
  }
  const auto freedom = static_cast<double>(rows.size()) - 2;
  const double t = boost::math::quantile(boost::math::students_t(freedom), 0.975);
  out.active_reach = t * std::sqrt(squares / freedom * ff / determinant);
  out.flop_reach = t * std::sqrt(squares / freedom * aa / determinant);
  return out;
}

struct Card {
  const char* name;
  double board;  // W
  std::size_t rows;
  double median;  // of the magnitudes of the residuals, as README.md has it
  Interval<double> active, flop;
};
void PrintTo(const Card& card, std::ostream* out) {
  *out << card.name;
}

class EnergyFit : public ::testing::TestWithParam<Card> {};

TEST_P(EnergyFit, ShippedNumbersFollowFromTheMeasuredRows) {
  const Card& card = GetParam();
  const PublishedRuns runs = measured_runs();
  const std::vector<Row> rows = rows_of(runs, card.name, card.board);
  ASSERT_EQ(rows.size(), card.rows);
  const Fit all = fit(rows);
  const auto group = std::ranges::find_if(runs.groups, [&](const PublishedGroup& each) {
    return each.runs.front().labels.at("rows") == std::string(card.name) + ", fitted";
  });
  const ServingConfig config =
      testing::serving(group->config, settings_of(*group, group->runs.front()));
  const auto& gpu = config.scenario.system.gpu;
  EXPECT_NEAR(to_watts(gpu.power.active_power->value), all.active, 0.5);
  constexpr double kPicojoule = 1e6;  // in aJ
  EXPECT_NEAR(static_cast<double>(gpu.costs.energy_per_flop->value.in_base()) / kPicojoule,
              all.flop, 0.005);
  std::vector<double> magnitudes;
  for (const double residual : all.residuals) magnitudes.push_back(std::abs(residual));
  std::ranges::sort(magnitudes);
  const std::size_t half = magnitudes.size() / 2;
  EXPECT_NEAR((magnitudes[half - 1] + magnitudes[half]) / 2, card.median, 0.0005);

  Interval<double> active{all.active - all.active_reach, all.active + all.active_reach};
  Interval<double> flop{all.flop - all.flop_reach, all.flop + all.flop_reach};
  std::set<std::string> models;
  for (const Row& row : rows) models.insert(row.model);
  EXPECT_EQ(models.size(), 3U);
  for (const std::string& model : models) {
    std::vector<Row> others = rows;
    std::erase_if(others, [&](const Row& row) { return row.model == model; });
    const Fit without = fit(others);
    active = {std::min(active.low, without.active), std::max(active.high, without.active)};
    flop = {std::min(flop.low, without.flop), std::max(flop.high, without.flop)};
  }
  EXPECT_NEAR(active.low, card.active.low, 0.5);
  EXPECT_NEAR(active.high, card.active.high, 0.5);
  EXPECT_NEAR(flop.low, card.flop.low, 0.005);
  EXPECT_NEAR(flop.high, card.flop.high, 0.005);
}

INSTANTIATE_TEST_SUITE_P(Cards, EnergyFit,
                         ::testing::Values(Card{"h100", 700, 10, 0.050, {291, 382}, {0.54, 1.01}},
                                           Card{"b200", 1000, 8, 0.037, {469, 615}, {0.62, 1.32}}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tiersim::energy_fit_test
