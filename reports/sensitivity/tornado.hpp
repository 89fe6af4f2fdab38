#pragma once
// Which parameter moves a metric most: each is moved down and up alone, everything else as it is
// (one at a time), and the results are sorted by how far apart they lie. Says nothing of parameters
// that act together.
#include <optional>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

struct TornadoEnd {
  std::string value = {};             ///< of the parameter, as --set takes it
  std::optional<double> metric = {};  ///< nothing where that cannot run:
  std::string problem = {};           ///< why
};

struct TornadoRow {
  std::string parameter = {};                    ///< dotted path
  std::string value = {};                        ///< as configured
  std::optional<NumberClass> number_class = {};  ///< none of what is no sourced number
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
  double by = 0.2;                    ///< share of the value
  std::vector<TornadoRow> rows = {};  ///< those with an effect or a problem, largest span first
  std::size_t no_effect = 0;          ///< moved, and the metric stayed the same
  std::vector<std::string> not_moved = {};  ///< parameters that have no other value, as zeros
};

/// How far apart the metric at the ends and at the value itself lie at most.
double span_of(const TornadoRow& row, double base);
/// Whether it is worth a line of text or a bar: a span of at least a ten-thousandth of the metric.
bool is_notable(const TornadoRow& row, const Tornado& tornado);
/// Sorts rows by span, counts those without any, and leaves these out. Rows that could run at
/// neither end come last.
void arrange(Tornado& tornado);

/// Rounded: what is notable, the rest counted. Exact: all rows.
std::vector<Table> tables_of(const Tornado& tornado, Digits digits);
std::string to_json(const Tornado& tornado);
/// A bar from the metric at the low value to that at the high one, for the `most` widest of what is
/// notable; those of class assumed are named so.
std::string to_svg(const Tornado& tornado, std::size_t most = 20);

}  // namespace tiersim
