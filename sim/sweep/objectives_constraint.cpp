// The violation of a constraint. The expression's value is only true or false, so the text is split
// at `and` and at its comparison, and the sides become expressions of their own.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "sim/record/metric_names.hpp"
#include "sim/sweep/objectives.hpp"

namespace tiersim {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

bool word_at(const std::string& text, std::size_t at, std::string_view word) {
  return text.compare(at, word.size(), word) == 0 && (at == 0 || !is_word(text[at - 1])) &&
         (at + word.size() == text.size() || !is_word(text[at + word.size()]));
}

// Calls `visit` with every offset outside of brackets and quoted text.
template <class Visit>
void outside(const std::string& text, const Visit& visit) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (depth == 0) {
      visit(i);
    }
  }
}

// Splits "a < 1 and b < 2" in two; keeps the text whole if an `or` or `not` binds less.
std::vector<std::string> joined_by_and(const std::string& text) {
  std::vector<std::size_t> cuts;
  bool whole = false;
  outside(text, [&](std::size_t i) {
    if (word_at(text, i, "and")) cuts.push_back(i);
    if (word_at(text, i, "or") || word_at(text, i, "not")) whole = true;
  });
  if (whole) return {text};
  std::vector<std::string> out;
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    out.push_back(text.substr(from, cut - from));
    from = cut + std::string_view("and").size();
  }
  out.push_back(text.substr(from));
  return out;
}

std::optional<double> number_of(const Expression& expression, const Expression::Lookup& lookup) {
  const auto value = expression.evaluate(lookup);
  if (!value || !std::holds_alternative<Magnitude>(*value)) return std::nullopt;
  return std::get<Magnitude>(*value).value;
}

// True where the expression is the name of this metric and nothing else.
bool is_metric(const Expression& expression, const std::string& metric) {
  if (expression.names().size() != 1) return false;
  std::string_view text = expression.text();
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  if (text != expression.names().front()) return false;
  const auto full = resolve_metric(std::string(text));
  return full && *full == metric;
}

std::optional<Magnitude> constant(const Expression& expression) {
  if (!expression.names().empty()) return std::nullopt;
  const auto value = expression.evaluate([](std::string_view) { return std::nullopt; });
  if (!value || !std::holds_alternative<Magnitude>(*value)) return std::nullopt;
  return std::get<Magnitude>(*value);
}

}  // namespace

Expected<Constraint, ExpressionError> Constraint::parse(const std::string& text) {
  auto whole = Expression::parse(text);
  if (!whole) return Unexpected(whole.error());
  Constraint out(*std::move(whole));
  for (const std::string& piece : joined_by_and(text)) {
    auto condition = Expression::parse(piece);
    if (!condition) {  // not where the grammar splits: it is one condition
      out.parts_.assign(1, Part{out.whole_, std::nullopt, std::nullopt});
      return out;
    }
    Part part{*std::move(condition), std::nullopt, std::nullopt};
    std::optional<std::size_t> sign;
    outside(piece, [&](std::size_t i) {
      if (!sign && (piece[i] == '<' || piece[i] == '>')) sign = i;
    });
    if (sign) {
      const std::size_t after = *sign + (piece.compare(*sign + 1, 1, "=") == 0 ? 2 : 1);
      auto left = Expression::parse(piece.substr(0, *sign));
      auto right = Expression::parse(piece.substr(std::min(after, piece.size())));
      if (left && right) {
        part.left = *std::move(left);
        part.right = *std::move(right);
      }
    }
    out.parts_.push_back(std::move(part));
  }
  return out;
}

double Constraint::violation(const Expression::Lookup& lookup) const {
  double sum = 0;
  for (const Part& part : parts_) {
    const auto value = part.condition.evaluate(lookup);
    if (value && std::holds_alternative<bool>(*value) && std::get<bool>(*value)) continue;
    double away = 1;
    if (value && part.left && part.right) {
      const auto left = number_of(*part.left, lookup);
      const auto right = number_of(*part.right, lookup);
      // If both are equal, `<` is violated by the least amount.
      if (left && right) {
        const double scale = std::max(std::abs(*left), std::abs(*right));
        away = scale > 0 ? std::max(std::abs(*left - *right) / scale, 1e-12) : 1e-12;
      }
    }
    sum += away;
  }
  return sum;
}

std::optional<Magnitude> Constraint::limit_of(const std::string& metric) const {
  for (const Part& part : parts_) {
    if (!part.left || !part.right) continue;
    if (is_metric(*part.left, metric)) {
      if (auto limit = constant(*part.right)) return limit;
    } else if (is_metric(*part.right, metric)) {
      if (auto limit = constant(*part.left)) return limit;
    }
  }
  return std::nullopt;
}

}  // namespace tiersim
