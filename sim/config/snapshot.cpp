#include "sim/config/snapshot.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/config/json_text.hpp"

namespace tiersim {
namespace {

// The reader of a plain scalar derives its type from the text. JSON allows only numbers and truth
// values without quotes, and readers of other types ignore quotes. The text of "-0" would be lost
// between its quotes.
bool is_json_literal(const std::string& text) {
  if (text == "true" || text == "false") return true;
  const bool may_be_number =
      !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  return may_be_number && text != "-0" && nlohmann::json::accept(text);
}

detail::PlainTree plain(const Node& node) {
  detail::PlainTree out{.kind = node.kind};
  if (node.kind == NodeKind::scalar) {
    out.is_text = node.quoted || !is_json_literal(node.scalar);
    out.scalar = node.scalar;
  }
  for (const Node& item : node.items) out.items.push_back(plain(item));
  for (const Entry& entry : node.entries) out.add(entry.key, plain(entry.value));
  return out;
}

// Makes the tree from the events of the parser. False ends the parsing.
class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(Origin origin) : origin_(std::move(origin)) {}

  Node take() { return std::move(root_); }
  const std::string& fault() const { return fault_; }

  bool null() { return place(node_of(NodeKind::null)); }
  bool boolean(bool value) { return scalar(value ? "true" : "false", false); }
  bool number_integer(std::int64_t value) { return scalar(fmt::format("{}", value), false); }
  bool number_unsigned(std::uint64_t value) { return scalar(fmt::format("{}", value), false); }
  bool number_float(double /*value*/, const std::string& written) { return scalar(written, false); }
  bool string(std::string& value) { return scalar(std::move(value), true); }
  bool binary(const nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(NodeKind::mapping); }
  bool start_array(std::size_t /*size*/) { return open(NodeKind::sequence); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& value) {
    if (open_.back().node.find(value) != nullptr)
      return fail(fmt::format("key '{}' stands twice", value));
    open_.back().key = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) {
    return fail(fmt::format("character {} is none of JSON", position));
  }

 private:
  struct Open {
    Node node;
    std::string key = {};
  };

  bool fail(std::string message) {
    fault_ = std::move(message);
    return false;
  }
  Node node_of(NodeKind kind) const {
    Node node;
    node.kind = kind;
    node.origin = origin_;
    return node;
  }
  bool scalar(std::string text, bool quoted) {
    Node node = node_of(NodeKind::scalar);
    node.scalar = std::move(text);
    node.quoted = quoted;
    return place(std::move(node));
  }
  bool open(NodeKind kind) {
    if (open_.size() >= kMaxDepth)
      return fail(fmt::format("nested deeper than {} levels", kMaxDepth));
    open_.push_back({node_of(kind)});
    return true;
  }
  bool close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    return place(std::move(node));
  }
  bool place(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return true;
    }
    Open& parent = open_.back();
    if (parent.node.kind == NodeKind::sequence)
      parent.node.items.edit().push_back(std::move(node));
    else
      parent.node.entries.edit().push_back({std::move(parent.key), origin_, std::move(node)});
    return true;
  }

  Origin origin_;
  std::vector<Open> open_;
  Node root_;
  std::string fault_;
};

// Moves the schema from the entries to the tags; false where it is none.
bool take_schema(Node& root) {
  constexpr std::string_view kBefore = "tiersim.";
  constexpr std::string_view kBehind = "/v1";
  const Entry* entry = root.find("schema");
  if (entry == nullptr) return true;
  const std::string& text = entry->value.scalar;
  if (text.size() <= kBefore.size() + kBehind.size() || !text.starts_with(kBefore) ||
      !text.ends_with(kBehind))
    return false;
  root.schemas.push_back(
      {text.substr(kBefore.size(), text.size() - kBefore.size() - kBehind.size()),
       entry->value.origin});
  std::erase_if(root.entries.edit(), [](const Entry& e) { return e.key == "schema"; });
  return true;
}

}  // namespace

std::string snapshot_text(const Document& document) {
  const Node& root = document.root();
  detail::PlainTree out;
  if (!root.schemas.empty())
    out.add("schema", detail::PlainTree::text("tiersim." + root.schemas.back().kind + "/v1"));
  for (const Entry& entry : root.entries) out.add(entry.key, plain(entry.value));
  return detail::to_json_line(out);
}

Document read_snapshot(std::string_view text, const std::filesystem::path& name,
                       Diagnostics& diagnostics) {
  const Origin origin{std::make_shared<const TextSource>(TextSource{name.string(), ""}), 1, 1};
  SnapshotBuilder builder(origin);
  std::string fault;
  Node root;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    fault = builder.fault();
  else if (root = builder.take(); root.kind != NodeKind::mapping)
    fault = fmt::format("expected a mapping, found {}", root.what());
  else if (!take_schema(root))
    fault = "the schema is none of tiersim";
  if (fault.empty()) return Document(std::move(root));
  diagnostics.report({origin.location(), fault, ""});
  return {};
}

}  // namespace tiersim
