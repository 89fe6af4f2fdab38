#pragma once
// Rows of a profile by the names of their kernels (NamedRows of timing_table_config.hpp): which
// rule a row follows, and what it then says of labels and sizes.
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/table/timing_table_config.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim::detail {

/// The mistake of a regular expression, or nothing. One of more than 1000 characters, or whose
/// counts in braces repeat more than 32 times, is a mistake: it could search for ever.
std::optional<std::string> mistake_in_pattern(const std::string& pattern);
/// Groups of a pattern without mistakes.
std::size_t groups_in(const std::string& pattern);

class NamedRowRules {
 public:
  /// The rules were checked. They must outlive this object.
  explicit NamedRowRules(const std::vector<NamedRows>& rules);

  bool empty() const { return rules_.empty(); }
  /// True where every rule gives a text for this label or size.
  bool give(const std::string& column) const;

  using Texts = std::map<std::string, std::string, std::less<>>;
  /// The texts of the first rule that the row follows; nothing where there is none.
  std::optional<Texts> texts_of(const std::string& name, const Expression::Lookup& columns);

  /// Sentences that name the rows without a rule and the rules without a row.
  std::vector<std::string> notes() const;
  /// Names that follow no rule, with their rows.
  const std::map<std::string, int>& unnamed() const { return unnamed_; }

 private:
  struct Rule {
    const NamedRows* config = nullptr;
    std::optional<std::regex> pattern;
    std::optional<Expression> where;
    int rows = 0;
  };
  std::vector<Rule> rules_;
  std::map<std::string, int> unnamed_;
};

/// Names for a message, at most `most`, each cut where it is long.
std::string some_of(const std::map<std::string, int>& names, std::size_t most);

}  // namespace tiersim::detail
