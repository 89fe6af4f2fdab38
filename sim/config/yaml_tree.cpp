#include "sim/config/yaml_tree.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "sim/config/yaml_text.hpp"

namespace tiersim {
namespace {

// Limit of the keys of a mapping, which are searched linearly: mappings are small and keep their
// order.
constexpr std::size_t kMaxKeys = 10'000;

// Ends parsing at the first fault after which the rest has no meaning.
struct Stop : std::runtime_error {
  Stop(Origin at, const std::string& message, std::string advice)
      : std::runtime_error(message), origin(std::move(at)), hint(std::move(advice)) {}
  Origin origin;
  std::string hint;
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& text, std::shared_ptr<const TextSource> source,
              Diagnostics& diagnostics)
      : text_(text), source_(std::move(source)), diagnostics_(diagnostics) {}

  Node take() { return std::move(root_); }
  // The innermost mapping or list that is still open, which is the place of an unclosed bracket.
  std::optional<Origin> innermost() const {
    if (open_.empty()) return std::nullopt;
    return open_.back().node.origin;
  }
  Origin origin(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0)
      throw Stop(origin(mark), "a second document starts here", "one document a file");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Node node;
    node.origin = origin(mark);
    if (at(mark) == '~') node.scalar = "~";
    place(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Stop(origin(mark), "aliases are not supported", "name a base file instead");
  }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    throw Stop(origin(mark), "anchors are not supported", "name a base file instead");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    Node node;
    node.kind = NodeKind::scalar;
    node.origin = origin(mark);
    node.scalar = value;
    node.quoted = tag == "!";
    const char first = at(mark);
    const bool has_style = first == '"' || first == '\'' || first == '|' || first == '>';
    if (node.quoted ? !has_style : tag != "?") refuse_tag(mark);
    if (node.quoted && !is_closed_quote(text_, static_cast<std::size_t>(mark.pos)))
      throw Stop(node.origin, "this quote is never closed", "");
    place(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(NodeKind::sequence, mark, tag);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(NodeKind::mapping, mark, tag);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    bool has_key = false;
    std::string key = {};
    Origin key_origin = {};
  };

  char at(const YAML::Mark& mark) const {
    const auto pos = static_cast<std::size_t>(mark.pos);
    return mark.pos >= 0 && pos < text_.size() ? text_[pos] : '\0';
  }
  [[noreturn]] void refuse_tag(const YAML::Mark& mark) const {
    throw Stop(origin(mark), "YAML tags are not supported", "values have no `!`");
  }

  void open(NodeKind kind, const YAML::Mark& mark, const std::string& tag) {
    if (tag != "?" && !tag.empty()) refuse_tag(mark);
    if (open_.size() >= kMaxDepth)
      throw Stop(origin(mark), fmt::format("nested deeper than {} levels", kMaxDepth), "");
    Open& opened = open_.emplace_back();
    opened.node.kind = kind;
    opened.node.origin = origin(mark);
  }
  void close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    place(std::move(node));
  }

  void place(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == NodeKind::sequence) {
      parent.node.items.edit().push_back(std::move(node));
      return;
    }
    if (!parent.has_key && node.kind != NodeKind::scalar)
      throw Stop(node.origin, "a key must be text", "");
    if (!std::exchange(parent.has_key, !parent.has_key)) {
      parent.key = std::move(node.scalar);
      parent.key_origin = node.origin;
      return;
    }
    if (const Entry* first = parent.node.find(parent.key)) {
      parent.node.damaged = true;
      diagnostics_.report({parent.key_origin.location(),
                           fmt::format("duplicate key '{}'", parent.key),
                           fmt::format("first on line {}", first->key_origin.line)});
      return;
    }
    if (parent.node.entries.size() >= kMaxKeys)
      throw Stop(parent.key_origin, fmt::format("more than {} keys in one mapping", kMaxKeys), "");
    // The parser has seen the next token by then, which may be lines further on.
    if (node.kind == NodeKind::null) node.origin = parent.key_origin;
    parent.node.entries.edit().push_back({parent.key, parent.key_origin, std::move(node)});
  }

  const std::string& text_;
  std::shared_ptr<const TextSource> source_;
  Diagnostics& diagnostics_;
  int documents_ = 0;
  std::vector<Open> open_;
  Node root_;
};

// An error of yaml-cpp in the words of a user who does not know its grammar.
Diagnostic explain(const YAML::Exception& error, const TreeBuilder& builder) {
  const Location at = builder.origin(error.mark).location();
  const std::string& says = error.msg;
  if (says.find("flow not found") != std::string::npos && builder.innermost())
    return {builder.innermost()->location(), "this bracket is never closed", ""};
  if (says == "illegal flow end") return {at, "this bracket closes none that is open", ""};
  if (says == "illegal map value")
    return {at, "a ':' that cannot stand here", "put text with ': ' in quotes"};
  if (says.starts_with("end of map not found") || says.starts_with("end of sequence not found"))
    return {at, "this line does not continue what stands above", "check indentation and quotes"};
  if (says == "the referenced anchor is not defined")
    return {at, "aliases are not supported", "put text that starts with '*' in quotes"};
  return {at, "not valid YAML: " + says, ""};
}

}  // namespace

std::optional<Node> parse_yaml(std::string text, std::shared_ptr<const TextSource> source,
                               Diagnostics& diagnostics) {
  normalise(text);
  if (const auto fault = text_fault(text)) {
    const Origin where{std::move(source), fault->line, fault->column};
    diagnostics.report({where.location(), fault->message, fault->hint});
    return std::nullopt;
  }
  std::istringstream stream(text);
  TreeBuilder builder(text, std::move(source), diagnostics);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    diagnostics.report({stop.origin.location(), stop.what(), stop.hint});
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    diagnostics.report(explain(error, builder));
    return std::nullopt;
  }
  return builder.take();
}

}  // namespace tiersim
