// `config show`: a struct as YAML, with the origin of each value.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/config/dump.hpp"
#include "sim/config/yaml_scalar.hpp"

namespace tiersim::detail {
namespace {

std::string flow(const PlainTree& tree) {
  if (tree.kind == NodeKind::scalar) return tree.is_text ? yaml_scalar(tree.scalar) : tree.scalar;
  std::string out;
  for (const PlainTree& item : tree.items) out += (out.empty() ? "" : ", ") + flow(item);
  for (const auto& [key, value] : tree.entries)
    out += (out.empty() ? "" : ", ") + yaml_scalar(key) + ": " + flow(value);
  return tree.kind == NodeKind::sequence ? '[' + out + ']' : '{' + out + '}';
}

// True where the tree fits on one line.
bool is_leaf(const PlainTree& tree) {
  const auto scalar = [](const PlainTree& t) { return t.kind == NodeKind::scalar; };
  return tree.is_sourced || scalar(tree) || (tree.items.empty() && tree.entries.empty()) ||
         (!tree.items.empty() && std::ranges::all_of(tree.items, scalar));
}

// The origins of a leaf, without repetition: elements of a list may have been overridden.
std::string origins(const Node* node) {
  if (node == nullptr) return "default";
  if (const Entry* value = node->find("value")) return origins(&value->value);
  std::vector<std::string> all;
  for (const Node& item : node->items)
    if (const std::string text = origins(&item); std::ranges::find(all, text) == all.end())
      all.push_back(text);
  if (all.empty()) all.push_back(node->origin.text());
  std::string out;
  for (const std::string& text : all) out += (out.empty() ? "" : ", ") + text;
  return printable(out);
}

class YamlWriter {
 public:
  void write_entries(const PlainTree& tree, const Node* node, std::size_t indent) {
    for (const auto& [key, value] : tree.entries) {
      const Entry* entry = node == nullptr ? nullptr : node->find(key);
      const Node* below = entry == nullptr ? nullptr : &entry->value;
      out += std::string(indent, ' ') + yaml_scalar(key) + ':';
      write_value(value, below, indent);
    }
  }

  std::string out;

 private:
  void write_value(const PlainTree& value, const Node* node, std::size_t indent) {
    if (is_leaf(value)) {
      out += ' ' + flow(value) + "  # " + origins(node) + '\n';
      return;
    }
    out += '\n';
    write_entries(value, node, indent + 2);
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const bool known = node != nullptr && i < node->items.size();
      write_item(value.items[i], known ? &node->items[i] : nullptr, indent + 2);
    }
  }

  void write_item(const PlainTree& item, const Node* node, std::size_t indent) {
    if (is_leaf(item) || item.kind != NodeKind::mapping) {
      out += std::string(indent, ' ') + "- " + flow(item) + "  # " + origins(node) + '\n';
      return;
    }
    const std::size_t start = out.size();
    write_entries(item, node, indent + 2);
    out[start + indent] = '-';
  }
};

}  // namespace

std::string show_text(const Document& document, const StructValue& config) {
  YamlWriter writer;
  const Node& root = document.root();
  if (!root.schemas.empty())
    writer.out = fmt::format("schema: tiersim.{}/v1\n", root.schemas.back().kind);
  writer.write_entries(dump(config, Sources::kept), &root, 0);
  return std::move(writer.out);
}

}  // namespace tiersim::detail
