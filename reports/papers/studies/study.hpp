#pragma once
// A study: one scenario at every point of a few axes, with the columns to show and the checks over
// its points. It is data in reports/targets, so that a figure of a paper or a sweep beyond it is a
// few lines of YAML:
//
//   - id: maple.fig1_left.pool
//     title: "Where a decode step goes"
//     scenario: scenarios/maple/llama2_7b_dense_pool.yaml
//     set: ["step.batch=1"]
//     axes: [{name: context, key: step.context, values: ["1024", "2048"]}]
//     columns: [step_time_s, shares, bounded_by]
//     checks: [...]
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

/// A named choice: another scenario, settings, or both.
struct StudyVariant {
  std::string label = {};
  std::string scenario = {};  ///< replaces that of the study where given
  std::vector<std::string> set = {};
};
void describe(Fields& f, StudyVariant& c);
using VariantLists = std::map<std::string, std::vector<StudyVariant>>;

/// Values of one setting, or the variants of one list.
struct StudyAxis {
  std::string name = {};
  std::string key = {};
  std::vector<std::string> values = {};
  std::string variants = {};  ///< name of the list
};
void describe(Fields& f, StudyAxis& c);

/// A condition along an axis for a quantity `sum of columns [/ over]`.
enum class CheckTest : std::uint8_t {
  linear,   ///< |value - line through the end points| / range stays within the tolerance
  rises,    ///< every point is above the one before
  largest,  ///< at the last point no other part of the time split is larger
  equals,   ///< every point has the value, within the tolerance
  at_most,  ///< no point is above the value by more than the tolerance
  is,       ///< a text column has this text at every point
};
inline constexpr std::array<std::string_view, 6> kCheckTestNames{"linear", "rises",   "largest",
                                                                 "equals", "at_most", "is"};

struct StudyCheck {
  std::string id = {};
  std::string says = {};  ///< the observation of the paper, or the condition
  CheckTest test = CheckTest::equals;
  std::vector<std::string> sum = {};
  std::string over = {};
  /// axis -> label: the check covers these points only
  std::map<std::string, std::string> rows = {};
  double value = 0;
  std::string text = {};
  double tolerance = 0;
  std::string why = {};  ///< where the tolerance comes from
};
void describe(Fields& f, StudyCheck& c);

struct Study {
  std::string id = {};
  std::string title = {};
  std::string where = {};  ///< figure or section; empty for studies beyond the paper
  std::string scenario = {};
  std::vector<std::string> set = {};
  std::vector<StudyAxis> axes = {};
  std::vector<std::string> columns = {};
  bool footprint_only = false;          ///< no simulated time, so that nothing has to fit
  bool largest_batch = false;           ///< every point runs the largest batch that fits
  std::vector<std::string> pivot = {};  ///< columns shown as first axis x last axis
  bool bars = false;                    ///< the time split as bars of characters
  std::vector<StudyCheck> checks = {};
  std::vector<std::string> notes = {};
};
void describe(Fields& f, Study& c);

/// A question: the value of one setting at which a metric meets a target.
struct SolveQuestion {
  std::string id = {};
  std::string title = {};
  std::string scenario = {};
  std::vector<std::string> set = {};
  std::string variants = {};  ///< name of a list: each variant is solved; empty: the scenario alone
  std::string vary = {};
  std::vector<std::string> between = {};  ///< two values, in YAML
  std::string metric = {};
  std::string equals = {};  ///< "50 ms"; empty: `equal_to` gives the target
  /// The target is the metric of this variant. Scenario and settings empty: those of the solved
  /// variant.
  StudyVariant equal_to = {};
  double times = 1;  ///< factor on the target
  std::vector<std::string> notes = {};
};
void describe(Fields& f, SolveQuestion& c);

/// A column of the digest: of a study with one axis, or of a question with variants.
struct DigestColumn {
  std::string title = {};
  std::string of = {};      ///< id of the study or question
  std::string column = {};  ///< of the study
};
void describe(Fields& f, DigestColumn& c);

/// The summary of all studies and questions beyond the paper, shown without --full.
struct Digest {
  std::string title = {};
  std::string rows = {};  ///< title of the first column
  std::vector<DigestColumn> columns = {};
  std::vector<std::string> notes = {};
};
void describe(Fields& f, Digest& c);

/// One point of a study.
struct StudyPoint {
  std::vector<std::string> labels = {};  ///< one for each axis
  std::string scenario = {};
  std::vector<std::string> set = {};
};

/// All points; the last axis varies fastest. The lists that axes name must exist.
std::vector<StudyPoint> points_of(const Study& study, const VariantLists& lists);

}  // namespace tiersim
