#pragma once
// A tornado chart: the parameters that move a metric most. Each parameter is moved down and up
// alone while the others are held (one at a time), and rows are sorted by the span of the metric.
// It does not show interactions of parameters.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

struct TornadoEnd {
  std::string value = {};             ///< of the parameter, in the form of --set
  std::optional<double> metric = {};  ///< none where that value cannot run
  std::string problem = {};           ///< the reason
};

struct TornadoRow {
  std::string parameter = {};  ///< dotted path
  std::string value = {};      ///< as configured
  /// None where the parameter is no number with a source
  std::optional<NumberClass> number_class = {};
  std::string source = {};
  bool to_ci95 = false;  ///< moved to the ends of its 95 % interval, not by the factor
  bool granule = false;  ///< a power of two of bytes that is halved and doubled
  TornadoEnd low = {};
  TornadoEnd high = {};
};

struct Tornado {
  std::string name = {};    ///< of the configuration
  std::string metric = {};  ///< full name
  std::string unit = {};
  NumberClass number_class = NumberClass::assumed;  ///< of the metric
  double base = 0;
  std::string run_id = {};
  std::string rerun = {};
  double by = 0.2;                    ///< relative step of a parameter
  std::vector<TornadoRow> rows = {};  ///< those with an effect or a problem, largest span first
  std::size_t no_effect = 0;          ///< moved, and the metric stayed the same
  std::vector<std::string> not_moved = {};  ///< parameters that have no other value, such as zeros
};

/// The largest difference between the metric at the low end, at the high end and at `base`.
double span_of(const TornadoRow& row, double base);
/// True for a span of at least a ten-thousandth of the metric, which is worth a line of text or a
/// bar.
bool is_notable(const TornadoRow& row, const Tornado& tornado);
/// Sorts rows by span, counts those without effect and removes them. Rows that could run at neither
/// end come last.
void arrange(Tornado& tornado);

/// People get the notable rows, which `arrange` puts first, and the number of the others. Programs
/// get all rows.
Table table_of(const Tornado& tornado);
std::string to_json(const Tornado& tornado);
/// A bar from the metric at the low value to that at the high one, for the `most` notable rows with
/// the widest span. Parameters of class assumed are marked.
std::string to_svg(const Tornado& tornado, std::size_t most = 20);

}  // namespace tiersim
