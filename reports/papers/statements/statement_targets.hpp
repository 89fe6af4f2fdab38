#pragma once
// Statements of a paper about numerics, each with the statement of a numerical study that shows it.
// Data in reports/targets:
//
//   numerics:
//     id: tpla.numerics
//     study: tpla
//     statements:
//       - {id: tpla.numerics.proposition_1, shown_by: tpla.proposition_1, where: Proposition 1,
//          says: "...", expect: exact}
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

/// The check of a statement.
enum class StatementExpectation : std::uint8_t {
  exact,  ///< an equality that must hold to rounding
  shape,  ///< an ordering that must hold
  open,   ///< an ordering that needs inputs we lack, such as trained weights: not checked
};
inline constexpr std::array<std::string_view, 3> kStatementExpectationNames{"exact", "shape",
                                                                            "open"};

struct StatementTarget {
  std::string id = {};
  std::string shown_by = {};  ///< id of the study's statement
  std::string where = {};     ///< proposition or section
  std::string says = {};      ///< in the words of the paper
  StatementExpectation expect = StatementExpectation::exact;
  std::string why = {};  ///< under `open`: the missing input
};
void describe(Fields& f, StatementTarget& c);

struct NumericsTargets {
  std::string id = {};
  std::string title = {};
  std::string study = {};  ///< its name in `tiersim numerics`
  std::int64_t seed = 1;
  std::vector<StatementTarget> statements = {};
  std::vector<std::string> notes = {};
};
void describe(Fields& f, NumericsTargets& c);

}  // namespace tiersim
