#include "sim/config/snapshot.hpp"

#include <nlohmann/json.hpp>

#include "sim/config/json_text.hpp"

namespace tiersim {
namespace {

// The reader of a plain scalar derives its type from the text. JSON allows only numbers and truth
// values without quotes, and readers of other types ignore quotes.
bool is_json_literal(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_number() || json.is_boolean();
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

}  // namespace

std::string snapshot_text(const Document& document) {
  const Node& root = document.root();
  detail::PlainTree out;
  if (!root.schemas.empty())
    out.add("schema", detail::PlainTree::text("tiersim." + root.schemas.back().kind + "/v1"));
  for (const Entry& entry : root.entries) out.add(entry.key, plain(entry.value));
  return detail::to_json_line(out);
}

}  // namespace tiersim
