#pragma once
// A part of very many points that stands for all of them on a page. The choice takes two readings
// of the points and little memory:
//
//   PointChoice choice(columns, fixed, fronts, most, chosen);
//   for (each point) choice.add(point, feasible);
//   choice.close();
//   for (each point) if (choice.takes(point.position, point.labels)) table.points.push_back(point);
//
// Chosen are the points at some values of each numeric axis, which lie evenly between its least and
// greatest value, so that lines over one axis at fixed values of the others stay whole. Points of a
// sample or search, and those of axes with very many values, are every n-th one instead. A question
// says what is taken besides them.
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "reports/points/point_table.hpp"
#include "sim/base/pareto.hpp"

namespace tiersim::cli {

class PointChoice {
 public:
  /// Single points beside those at the chosen values.
  enum class Besides {
    /// The fronts, a point with the least and one with the most of every metric and numeric column,
    /// and the first points without results.
    marked,
    /// The only front, however large; all points are compared with it (WholeComparison).
    front,
    /// None, so that no line has a single point.
    none,
  };
  struct Question {
    std::vector<PointColumn> columns = {};
    /// By column: true where its values follow from those of others, so that it is not thinned.
    std::vector<bool> follows = {};
    /// Sets of objectives whose fronts are kept whole.
    std::vector<std::vector<ReportObjective>> fronts = {};
    std::size_t most = 0;  ///< number of points to choose, besides the front and single ones
    Besides besides = Besides::marked;
    bool sampled = false;  ///< points of a sample or a search
    bool constrained = false;
  };
  explicit PointChoice(Question question);

  /// A point with labels for all columns. `feasible`: it meets the constraints.
  void add(const ReportPoint& point, bool feasible);
  /// Decides, after the last point.
  void close();

  bool takes(std::int64_t position, const std::vector<std::string>& labels) const;
  /// Counts of all points. True if none is left out: a table then needs no counts.
  const WholePoints& whole() const { return whole_; }
  bool takes_all() const { return takes_all_; }

 private:
  struct Ends {
    double least = 0, most = 0;
    std::int64_t at_least = -1, at_most = -1;
    void add(double value, std::int64_t position);
  };
  struct Labels {
    std::unordered_map<std::string, std::size_t> known = {};  // number of the label
    std::vector<double> numbers = {};                         // of numeric columns, by label
    bool many = false;                                        // too many to be remembered
    std::vector<bool> kept = {};                              // empty: all
    Ends ends = {};
  };
  struct Front {
    std::vector<ReportObjective> objectives = {};
    Senses senses = {};
    std::vector<Objectives> values = {};
    std::vector<std::int64_t> positions = {};
    std::size_t pruned = 0;  // number of points after the last pruning
    std::int64_t compared = 0;
    void prune();
  };

  void add_labels(const ReportPoint& point);
  void add_to_fronts(const ReportPoint& point, bool feasible);
  void compare(const ReportPoint& point, bool feasible);
  bool thin_axes();
  void take_single_points();

  Question question_;
  std::vector<Labels> labels_;  // by column
  std::vector<Front> fronts_;
  std::map<std::string, Ends> metrics_;
  std::vector<std::int64_t> single_;  // positions of points that are taken in any case, sorted
  std::int64_t step_ = 0;             // every step-th point; 0: by the labels
  std::size_t without_ = 0;
  bool takes_all_ = false;
  WholePoints whole_;
  std::vector<std::string> first_compared_;  // labels
};

}  // namespace tiersim::cli
