#pragma once
// Published measurements of inference servers, with the files that simulate them (`schema:
// tiersim.published_runs/v1`, reports/targets/published). Runs are in groups: one engine on one
// machine, from one document. A run is the group's serving file with settings on top, and the
// printed values.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

/// The metrics of servers; each is compared with the record's metric of record_metric().
enum class PublishedMetric : std::uint8_t {
  tpot,
  median_gap,
  ttft,
  throughput,
  energy,
  power,
  hit_rate
};
inline constexpr std::array<std::string_view, 7> kPublishedMetricNames{
    "tpot", "median_gap", "ttft", "throughput", "energy", "power", "hit_rate"};
constexpr std::string_view name_of(PublishedMetric metric) {
  return kPublishedMetricNames[static_cast<std::size_t>(metric)];
}
inline constexpr std::array kPublishedMetrics{PublishedMetric::tpot,    PublishedMetric::median_gap,
                                              PublishedMetric::ttft,    PublishedMetric::throughput,
                                              PublishedMetric::energy,  PublishedMetric::power,
                                              PublishedMetric::hit_rate};

/// The name in a record, and its unit there.
std::string_view record_metric(PublishedMetric metric);
std::string_view unit_of(PublishedMetric metric);

struct PublishedValues {
  std::optional<Duration> tpot = {};        ///< mean over requests of the time between tokens
  std::optional<Duration> median_gap = {};  ///< median of the gaps between tokens over all answers
  std::optional<Duration> ttft = {};        ///< mean over the requests
  std::optional<double> throughput = {};    ///< output tokens a second, of the whole server
  std::optional<double> energy = {};        ///< of all GPUs for an output token, J
  std::optional<double> power = {};         ///< mean of a GPU, W
  std::optional<double> hit_rate = {};      ///< share of the input that prefix caches had

  /// The value in unit_of(); none if it was not printed.
  std::optional<double> value(PublishedMetric metric) const;
};
void describe(Fields& f, PublishedValues& c);

struct PublishedRun {
  std::string id;
  std::optional<std::int64_t> users = {};  ///< in a closed loop
  std::vector<std::string> set = {};       ///< on top of the group's settings
  PublishedValues published;
  std::string at = {};  ///< file:line, for messages
  // of a row of a table; not read from runs in YAML
  /// By name: what errors are summed by beside groups, such as the engine or the load.
  std::map<std::string, std::string> labels = {};
};
void describe(Fields& f, PublishedRun& c);

struct PublishedGroup {
  std::string id;
  std::string engine;  ///< with its version
  std::string setup;   ///< model, types, GPUs
  std::string source;  ///< document, and the place in it
  std::string config;  ///< serving file, relative to the configs folder
  std::vector<std::string> set = {};
  std::int64_t requests_per_user = 10;  ///< for runs with users
  std::string assumed;                  ///< missing information, and the assumptions for it
  std::string note = {};                ///< the causes of the errors
  bool wall = false;                    ///< true where its runs show the capacity limit
  bool counted = true;  ///< in the summary; false for runs that another group covers
  std::vector<PublishedRun> runs;
};
void describe(Fields& f, PublishedGroup& c);

/// Desired limits of the errors, as shares of the printed value.
struct PublishedAims {
  double tpot = 0.1;  ///< also for median_gap
  double ttft = 0.2;
  double throughput = 0.1;
  double energy = 0.1;
  double power = 0.1;
  double hit_rate = 0.1;

  double value(PublishedMetric metric) const;
};
void describe(Fields& f, PublishedAims& c);

struct PublishedRuns {
  PublishedAims aims;
  std::vector<PublishedGroup> groups;
};
void describe(Fields& f, PublishedRuns& c);

/// Settings of a run on its group's file, as --set takes them; later ones win.
std::vector<std::string> settings_of(const PublishedGroup& group, const PublishedRun& run);

}  // namespace tiersim
