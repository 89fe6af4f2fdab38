#pragma once
// What others measured on inference servers, beside the files that simulate it
// (`schema: tiersim.published_runs/v1`, reports/targets/published). Runs are in groups: one engine
// on one machine, from one document. A run is the group's serving file with settings on top, and
// what was printed of it. Nothing is fitted on these numbers.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

/// What servers are measured by; each is compared with the metric of that name in a record.
enum class PublishedMetric : std::uint8_t { tpot, median_gap, ttft, throughput };
inline constexpr std::array<std::string_view, 4> kPublishedMetricNames{"tpot", "median_gap", "ttft",
                                                                       "throughput"};
inline constexpr std::array kPublishedMetrics{PublishedMetric::tpot, PublishedMetric::median_gap,
                                              PublishedMetric::ttft, PublishedMetric::throughput};

/// Name in a record, and unit there.
std::string_view record_metric(PublishedMetric metric);
std::string_view unit_of(PublishedMetric metric);

struct PublishedValues {
  std::optional<Duration> tpot = {};        ///< mean over the requests of the time between tokens
  std::optional<Duration> median_gap = {};  ///< of the times from token to token of all answers
  std::optional<Duration> ttft = {};        ///< mean over the requests
  std::optional<double> throughput = {};    ///< output tokens a second, of the whole server

  /// In the unit of unit_of(); none where it was not printed.
  std::optional<double> value(PublishedMetric metric) const;
};
void describe(Fields& f, PublishedValues& c);

struct PublishedRun {
  std::string id;
  std::optional<std::int64_t> users = {};  ///< of a closed loop
  std::vector<std::string> set = {};       ///< on top of the group's
  PublishedValues published;
};
void describe(Fields& f, PublishedRun& c);

struct PublishedGroup {
  std::string id;
  std::string engine;  ///< with its version
  std::string setup;   ///< model, types, GPUs
  std::string source;  ///< document, and the place in it
  std::string config;  ///< serving file, relative to the configs folder
  std::vector<std::string> set = {};
  std::int64_t requests_per_user = 10;  ///< of the runs that have users
  std::string assumed;                  ///< what is not stated, and what is taken instead
  std::string note = {};                ///< why the errors are what they are
  bool wall = false;    ///< whether its runs show what happens when no more sequences fit
  bool counted = true;  ///< in the summary; not where it reads the runs of another group otherwise
  std::vector<PublishedRun> runs;
};
void describe(Fields& f, PublishedGroup& c);

/// Errors that one would like to stay below: shares of the printed value.
struct PublishedAims {
  double tpot = 0.1;  ///< and of median_gap
  double ttft = 0.2;
  double throughput = 0.1;

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
