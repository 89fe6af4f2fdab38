// Parses text into a tree by precedence climbing: each level parses the operators that bind
// tighter, then its own operators.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/expression/expression_tree.hpp"

namespace tiersim {
namespace {

// Trees are walked recursively, so these limits of the text also limit the recursion.
constexpr std::size_t kMaxText = 4096;
constexpr int kMaxDepth = 100;

constexpr std::array kFunctions{
    ExpressionFunction{"min", Operation::min_, 1, 100},
    ExpressionFunction{"max", Operation::max_, 1, 100},
    ExpressionFunction{"abs", Operation::abs_, 1, 1},
    ExpressionFunction{"floor", Operation::floor_, 1, 1},
    ExpressionFunction{"ceil", Operation::ceil_, 1, 1},
    ExpressionFunction{"round", Operation::round_, 1, 1},
    ExpressionFunction{"sqrt", Operation::sqrt_, 1, 1},
    ExpressionFunction{"log2", Operation::log2_, 1, 1},
    ExpressionFunction{"log10", Operation::log10_, 1, 1},
    ExpressionFunction{"exp", Operation::exp_, 1, 1},
    ExpressionFunction{"part", Operation::part_, 3, 3},
    ExpressionFunction{"after", Operation::after_, 2, 2},
    ExpressionFunction{"if", Operation::if_, 3, 3},
};

struct Binary {
  std::string_view symbol;
  Operation operation;
};
// Longer operators first, since they begin with shorter ones.
constexpr std::array kComparisons{
    Binary{"==", Operation::equal},      Binary{"!=", Operation::unequal},
    Binary{"<=", Operation::less_equal}, Binary{">=", Operation::greater_equal},
    Binary{"<", Operation::less},        Binary{">", Operation::greater},
};
constexpr std::array kSums{Binary{"+", Operation::add}, Binary{"-", Operation::subtract}};
constexpr std::array kProducts{Binary{"*", Operation::multiply}, Binary{"/", Operation::divide},
                               Binary{"%", Operation::remainder}};
constexpr std::array<std::string_view, 6> kKeywords{"and", "or", "not", "in", "true", "false"};

struct Instead {
  std::string_view symbol;
  const char* hint;
};
// Operators of other languages, with the replacement to suggest.
constexpr std::array kOtherOperators{
    Instead{"&&", "write 'and'"},    Instead{"||", "write 'or'"}, Instead{"<>", "write '!='"},
    Instead{"^", "a power is '**'"}, Instead{"!", "write 'not'"}, Instead{"=", "write '=='"},
};

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ExpressionNode parse_all() {
    if (text_.size() > kMaxText)
      fail(kMaxText, fmt::format("longer than {} characters", kMaxText), "");
    skip();
    if (at_end()) fail(0, "an empty expression", "");
    ExpressionNode root = parse_or();
    if (!at_end()) fail_at_rest();
    return root;
  }

 private:
  [[noreturn]] static void fail(std::size_t offset, std::string message, std::string hint) {
    throw ExpressionError{offset, std::move(message), std::move(hint)};
  }

  // Reports text that follows a complete expression.
  [[noreturn]] void fail_at_rest() const {
    for (const Instead& other : kOtherOperators)
      if (rest().starts_with(other.symbol))
        fail(at_, fmt::format("unknown operator '{}'", other.symbol), other.hint);
    if (text_[at_] == ')' || text_[at_] == ']')
      fail(at_, fmt::format("a '{}' that closes nothing", text_[at_]), "");
    if (text_[at_] == ',') fail(at_, "a ',' outside of a list or function", "");
    const bool after_name = at_ > 0 && (is_letter(text_[at_]) || is_decimal_digit(text_[at_]));
    fail(at_, fmt::format("expected an operator before '{}'", rest().substr(0, 20)),
         after_name ? "text stands in quotes" : "");
  }

  std::string_view rest() const { return text_.substr(at_); }
  bool at_end() const { return at_ == text_.size(); }
  void skip() {
    while (!at_end() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool take(std::string_view symbol) {
    if (!rest().starts_with(symbol)) return false;
    at_ += symbol.size();
    skip();
    return true;
  }
  std::string_view word() const {
    std::size_t end = at_;
    if (!at_end() && is_letter(text_[at_]))
      while (end < text_.size() && (is_letter(text_[end]) || is_decimal_digit(text_[end]))) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_word(std::string_view wanted) {
    if (word() != wanted) return false;
    at_ += wanted.size();
    skip();
    return true;
  }

  static ExpressionNode make(Operation operation, std::size_t offset,
                             std::vector<ExpressionNode> children) {
    ExpressionNode node;
    node.operation = operation;
    node.offset = offset;
    node.children = std::move(children);
    return node;
  }
  static ExpressionNode make(Operation operation, std::size_t offset, ExpressionNode left,
                             ExpressionNode right) {
    std::vector<ExpressionNode> children;
    children.push_back(std::move(left));
    children.push_back(std::move(right));
    return make(operation, offset, std::move(children));
  }

  ExpressionNode parse_or() {
    const Nested nested(*this);
    ExpressionNode left = parse_and();
    for (std::size_t at = at_; take_word("or"); at = at_)
      left = make(Operation::or_, at, std::move(left), parse_and());
    return left;
  }
  ExpressionNode parse_and() {
    ExpressionNode left = parse_not();
    for (std::size_t at = at_; take_word("and"); at = at_)
      left = make(Operation::and_, at, std::move(left), parse_not());
    return left;
  }
  ExpressionNode parse_not() {
    const Nested nested(*this);
    const std::size_t at = at_;
    if (!take_word("not")) return parse_comparison();
    std::vector<ExpressionNode> child;
    child.push_back(parse_not());
    return make(Operation::not_, at, std::move(child));
  }

  std::optional<Operation> take_comparison() {
    for (const Binary& comparison : kComparisons)
      if (!rest().starts_with("<>") && take(comparison.symbol)) return comparison.operation;
    return std::nullopt;
  }

  ExpressionNode parse_comparison() {
    ExpressionNode left = parse_sum();
    const std::size_t at = at_;
    if (const auto operation = take_comparison()) {
      left = make(*operation, at, std::move(left), parse_sum());
    } else if (const bool negated = take_word("not"); negated || word() == "in") {
      if (!take_word("in")) fail(at_, "expected 'in' after 'not'", "x not in [1, 2]");
      left = parse_list(at, std::move(left));
      if (negated) {
        std::vector<ExpressionNode> child;
        child.push_back(std::move(left));
        left = make(Operation::not_, at, std::move(child));
      }
    }
    const std::size_t second = at_;
    if (at != second && (take_comparison() || take_word("in")))
      fail(second, "comparisons cannot be chained", "write 'a < b and b < c'");
    return left;
  }

  ExpressionNode parse_list(std::size_t offset, ExpressionNode sought) {
    const std::size_t open = at_;
    if (!take("[")) fail(at_, "expected '[' after 'in'", "x in [1, 2, 4]");
    std::vector<ExpressionNode> children;
    children.push_back(std::move(sought));
    do children.push_back(parse_or());
    while (take(","));
    close("]", open);
    return make(Operation::in_, offset, std::move(children));
  }
  void close(std::string_view symbol, std::size_t open) {
    if (take(symbol)) return;
    if (at_end()) fail(open, "this bracket is never closed", "");
    fail(at_, fmt::format("expected '{}' before '{}'", symbol, rest().substr(0, 20)), "");
  }

  ExpressionNode parse_sum() {
    ExpressionNode left = parse_product();
    for (bool more = true; more;) {
      more = false;
      for (const Binary& sum : kSums) {
        const std::size_t at = at_;
        if (more || !take(sum.symbol)) continue;
        left = make(sum.operation, at, std::move(left), parse_product());
        more = true;
      }
    }
    return left;
  }
  ExpressionNode parse_product() {
    ExpressionNode left = parse_unary();
    for (bool more = true; more;) {
      more = false;
      for (const Binary& product : kProducts) {
        const std::size_t at = at_;
        if (more || rest().starts_with("**") || !take(product.symbol)) continue;
        left = make(product.operation, at, std::move(left), parse_unary());
        more = true;
      }
    }
    return left;
  }
  ExpressionNode parse_unary() {
    const Nested nested(*this);
    const std::size_t at = at_;
    if (take("+")) return parse_unary();
    if (!take("-")) return parse_power();
    std::vector<ExpressionNode> child;
    child.push_back(parse_unary());
    return make(Operation::negate, at, std::move(child));
  }
  ExpressionNode parse_power() {
    ExpressionNode base = parse_primary();
    const std::size_t at = at_;
    if (!take("**")) return base;
    return make(Operation::power, at, std::move(base), parse_unary());
  }

  ExpressionNode parse_primary() {
    const std::size_t at = at_;
    if (at_end()) fail(at_, "the expression ends where a value is expected", "");
    const char first = text_[at_];
    if (is_decimal_digit(first) ||
        (first == '.' && at_ + 1 < text_.size() && is_decimal_digit(text_[at_ + 1])))
      return parse_number();
    if (first == '\'' || first == '"') return parse_text();
    if (is_letter(first)) return parse_word();
    if (take("(")) {
      ExpressionNode inside = parse_or();
      close(")", at);
      return inside;
    }
    if (first == '[') fail(at_, "a list can only follow 'in'", "x in [1, 2, 4]");
    for (const Instead& other : kOtherOperators)
      if (rest().starts_with(other.symbol))
        fail(at_, fmt::format("unknown operator '{}'", other.symbol), other.hint);
    fail(at_, fmt::format("expected a value before '{}'", rest().substr(0, 20)), "");
  }

  ExpressionNode parse_number() {
    ExpressionNode node;
    node.offset = at_;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), node.number);
    if (error != std::errc{}) fail(at_, "a number that is too large or too small", "");
    at_ += static_cast<std::size_t>(end - begin);
    skip();
    if (const std::size_t length = unit_length(rest()); length > 0) {
      const auto unit = find_unit(rest().substr(0, length));
      node.number = unit->scale(node.number);
      node.dimension = unit->dimension;
      at_ += length;
      skip();
      return node;
    }
    const std::string_view next = word();
    if (next.empty() || std::ranges::find(kKeywords, next) != kKeywords.end()) return node;
    const std::size_t end_of_unit = std::min(rest().find_first_of(" +-*<>=!,()[]"), rest().size());
    const std::string symbol(rest().substr(0, end_of_unit));
    const std::string near = nearest_unit(symbol);
    fail(at_, fmt::format("unknown unit '{}'", symbol),
         near.empty() ? "to multiply, write '*'" : fmt::format("did you mean '{}'?", near));
  }

  ExpressionNode parse_text() {
    ExpressionNode node;
    node.operation = Operation::text;
    node.offset = at_;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) fail(at_, "this quote is never closed", "");
    node.word = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    skip();
    return node;
  }

  ExpressionNode parse_word() {
    ExpressionNode node;
    node.offset = at_;
    std::size_t end = at_ + word().size();
    while (end + 1 < text_.size() && text_[end] == '.' && is_letter(text_[end + 1])) {
      ++end;
      while (end < text_.size() && (is_letter(text_[end]) || is_decimal_digit(text_[end]))) ++end;
    }
    node.word = text_.substr(at_, end - at_);
    if (node.word == "true" || node.word == "false") {
      node.operation = Operation::truth;
      node.number = node.word == "true" ? 1 : 0;
    } else if (std::ranges::find(kKeywords, node.word) != kKeywords.end()) {
      fail(at_, fmt::format("'{}' where a value is expected", node.word), "");
    } else {
      node.operation = Operation::name;
    }
    at_ = end;
    skip();
    if (!at_end() && text_[at_] == '(') return parse_call(std::move(node));
    return node;
  }

  ExpressionNode parse_call(ExpressionNode node) {
    const ExpressionFunction* function = find_function(node.word);
    if (function == nullptr) {
      std::vector<std::string> names;
      for (const ExpressionFunction& known : kFunctions) names.emplace_back(known.name);
      fail(node.offset, fmt::format("there is no function '{}'", node.word),
           "functions: " + join(names));
    }
    const std::size_t open = at_;
    take("(");
    if (!rest().starts_with(")")) {
      do node.children.push_back(parse_or());
      while (take(","));
    }
    close(")", open);
    node.operation = function->operation;
    const std::size_t count = node.children.size();
    if (count < function->least || count > function->most)
      fail(node.offset,
           fmt::format("{} takes {} {}, not {}", function->name,
                       function->most > 3 ? "one to a hundred" : std::to_string(function->least),
                       function->most == 1 ? "value" : "values", count),
           function->operation == Operation::if_      ? "if(condition, value, otherwise)"
           : function->operation == Operation::part_  ? "part(text, separator, number)"
           : function->operation == Operation::after_ ? "after(text, mark)"
                                                      : "");
    return node;
  }

  // Counts the depth of the recursion.
  struct Nested {
    explicit Nested(Parser& p) : parser(p) {
      if (++parser.depth_ > 3 * kMaxDepth)
        fail(parser.at_, fmt::format("nested deeper than {} levels", kMaxDepth), "");
    }
    ~Nested() { --parser.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    Parser& parser;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

void collect_names(const ExpressionNode& node, std::vector<std::string>& names) {
  if (node.operation == Operation::name && std::ranges::find(names, node.word) == names.end())
    names.push_back(node.word);
  for (const ExpressionNode& child : node.children) collect_names(child, names);
}

// The first use in the text, since children are in the order of the text.
std::optional<std::size_t> first_use(const ExpressionNode& node, std::string_view name) {
  if (node.operation == Operation::name && node.word == name) return node.offset;
  for (const ExpressionNode& child : node.children)
    if (const auto at = first_use(child, name)) return at;
  return std::nullopt;
}

}  // namespace

const ExpressionFunction* find_function(std::string_view name) {
  for (const ExpressionFunction& function : kFunctions)
    if (name == function.name) return &function;
  return nullptr;
}

Expected<Expression, ExpressionError> Expression::parse(const std::string& text) {
  try {
    Expression out;
    out.text_ = text;
    auto root = std::make_shared<ExpressionNode>(Parser(text).parse_all());
    collect_names(*root, out.names_);
    out.root_ = std::move(root);
    return out;
  } catch (const ExpressionError& error) {
    return Unexpected(error);
  }
}

const std::vector<std::string>& Expression::names() const {
  return names_;
}
std::size_t Expression::offset_of(std::string_view name) const {
  return first_use(*root_, name).value_or(0);
}
const std::string& Expression::text() const {
  return text_;
}

}  // namespace tiersim
