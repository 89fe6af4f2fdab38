#pragma once
// Intervals of results: repeated runs with numbers drawn from their own 95 % intervals
// (sim/config/resample.hpp), and the range of the middle 95 % of their results.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/resample.hpp"
#include "sim/config/snapshot.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

/// Paths of the numbers with intervals that move the record's results.
std::unordered_set<std::string> uncertain_paths(const RunRecord& record);
/// Those of them that move its energy and money alone.
std::unordered_set<std::string> uncertain_prices(const RunRecord& record);

/// The results of every draw, by name.
class DrawnResults {
 public:
  void add(const RunRecord& drawn);
  void add(const std::map<std::string, Metric>& metrics);
  /// The hull of the middle 95 % of the draws, the value, and an interval that the metric has.
  void give_intervals(RunRecord& record) const;

 private:
  std::map<std::string, std::vector<double>> metrics_;
  std::map<std::string, std::vector<double>> kernels_;
};

/// The metrics of energy and money of the run in a record at the prices of another configuration.
template <class Config>
using Pricing = std::function<std::map<std::string, Metric>(const Config&)>;

/// As add_intervals() where only numbers of energy and money are drawn: nothing is run again, and
/// the other metrics get no interval. Precondition: no check of describe() reads these numbers,
/// which holds for uncertain_prices().
template <class Config>
void add_price_intervals(const Config& config, std::string_view kind, std::int64_t draws,
                         std::int64_t seed, const Pricing<Config>& priced, RunRecord& record) {
  const std::unordered_set<std::string> used = uncertain_prices(record);
  if (used.empty()) return;
  Diagnostics diagnostics;
  const Document document = read_snapshot(canonical_json(config), "a copy", diagnostics);
  auto drawn = read<Config>(document, kind, diagnostics);
  TS_ENSURES(diagnostics.ok(), diagnostics.text());
  Resampler resampler(drawn, draws, seed,
                      [&](const std::string& path) { return used.contains(path); });
  DrawnResults results;
  for (std::size_t i = 0; i < resampler.draws(); ++i) {
    resampler.draw_unchecked(i);
    results.add(priced(drawn));
  }
  results.give_intervals(record);
  record.draws = DrawsRecord{draws, seed, static_cast<std::int64_t>(used.size())};
}

/// "draw 3 of 180 from the 95 % intervals cannot run: ..."
std::string broken_draw(std::size_t draw, std::size_t draws, const std::string& problem);

/// Metrics and kernel times of one draw. The error is the reason why it cannot run.
template <class Config>
using RunDraw = std::function<Expected<RunRecord>(const Config&)>;

/// Adds an interval to every metric of `run` in `record`, which is the run at the best values of
/// `config`, a document of this kind. Nothing is drawn if no number that the run uses has an
/// interval. A metric that none of these numbers moves gets equal ends. A kernel time gets an
/// interval only if the draws move it, since a time behind which no number has an interval is not
/// known to the picosecond. An interval is widened to include the value at the best values, if
/// almost all draws lie on one side. The error names the draw that cannot run, and the reason.
template <class Config>
Expected<bool> add_intervals(const Config& config, std::string_view kind, std::int64_t draws,
                             std::int64_t seed, const RunDraw<Config>& run, RunRecord& record) {
  const std::unordered_set<std::string> used = uncertain_paths(record);
  if (used.empty()) return false;
  // A copy to change, made through the canonical text.
  Diagnostics diagnostics;
  const Document document = read_snapshot(canonical_json(config), "a copy", diagnostics);
  auto drawn = read<Config>(document, kind, diagnostics);
  TS_ENSURES(diagnostics.ok(), diagnostics.text());
  Resampler resampler(drawn, draws, seed,
                      [&](const std::string& path) { return used.contains(path); });
  DrawnResults results;
  for (std::size_t i = 0; i < resampler.draws(); ++i) {
    std::string problem = resampler.draw(i);
    if (problem.empty()) {
      const auto result = run(drawn);
      if (result)
        results.add(*result);
      else
        problem = result.error();
    }
    if (!problem.empty()) return Unexpected(broken_draw(i + 1, resampler.draws(), problem));
  }
  results.give_intervals(record);
  record.draws = DrawsRecord{draws, seed, static_cast<std::int64_t>(used.size())};
  return true;
}

}  // namespace tiersim
