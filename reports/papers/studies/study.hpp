#pragma once
// A study: one scenario at every point of a few axes, what to show of each point, and what must
// hold over them. Data in reports/targets, so that a figure of a paper or a sweep beyond it is a
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
  std::string scenario = {};  ///< instead of the study's, where given
  std::vector<std::string> set = {};
};
void describe(Fields& f, StudyVariant& c);
using VariantLists = std::map<std::string, std::vector<StudyVariant>>;

/// Either values of one setting, or the variants of one list.
struct StudyAxis {
  std::string name = {};
  std::string key = {};
  std::vector<std::string> values = {};
  std::string variants = {};  ///< name of a list
};
void describe(Fields& f, StudyAxis& c);

/// What has to hold along an axis, for a quantity `sum of columns [/ over]`.
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
  std::string says = {};  ///< what the paper shows, or what must be so
  CheckTest test = CheckTest::equals;
  std::vector<std::string> sum = {};
  std::string over = {};
  std::map<std::string, std::string> rows = {};  ///< axis -> label: only these points
  double value = 0;
  std::string text = {};
  double tolerance = 0;
  std::string why = {};  ///< where the tolerance comes from
};
void describe(Fields& f, StudyCheck& c);

struct Study {
  std::string id = {};
  std::string title = {};
  std::string where = {};  ///< figure or section; empty for what goes beyond the paper
  std::string scenario = {};
  std::vector<std::string> set = {};
  std::vector<StudyAxis> axes = {};
  std::vector<std::string> columns = {};
  bool footprint_only = false;          ///< no times, so that nothing has to fit
  bool largest_batch = false;           ///< every point runs the largest batch that fits
  std::vector<std::string> pivot = {};  ///< columns shown as first axis x last axis
  bool bars = false;                    ///< the time split as bars of characters
  std::vector<StudyCheck> checks = {};
  std::vector<std::string> notes = {};
};
void describe(Fields& f, Study& c);

/// What is asked for: the value of one setting at which a metric equals something.
struct SolveQuestion {
  std::string id = {};
  std::string title = {};
  std::string scenario = {};
  std::vector<std::string> set = {};
  std::string variants = {};  ///< asked of each of this list; of the scenario alone where empty
  std::string vary = {};
  std::vector<std::string> between = {};  ///< two values, as YAML has them
  std::string metric = {};
  std::string equals = {};     ///< "50 ms", or empty where:
  StudyVariant equal_to = {};  ///< the metric there; scenario and settings empty: the variant's
  double times = 1;            ///< `equals` or `equal_to` times this
  std::vector<std::string> notes = {};
};
void describe(Fields& f, SolveQuestion& c);

/// A column of the digest: of a study with one axis, or of a question asked of its variants.
struct DigestColumn {
  std::string title = {};
  std::string of = {};      ///< id of the study or question
  std::string column = {};  ///< of the study
};
void describe(Fields& f, DigestColumn& c);

/// What a reader sees of all studies and questions beyond the paper, unless all is asked for.
struct Digest {
  std::string title = {};
  std::string rows = {};  ///< title of the first column
  std::vector<DigestColumn> columns = {};
  std::vector<std::string> notes = {};
};
void describe(Fields& f, Digest& c);

/// One point of a study.
struct StudyPoint {
  std::vector<std::string> labels = {};  ///< one an axis
  std::string scenario = {};
  std::vector<std::string> set = {};
};

/// All points, the last axis fastest. The lists that axes name exist.
std::vector<StudyPoint> points_of(const Study& study, const VariantLists& lists);

}  // namespace tiersim
