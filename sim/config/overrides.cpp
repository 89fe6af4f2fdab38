#include "sim/config/overrides.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/config/overlay.hpp"
#include "sim/config/yaml_tree.hpp"

namespace tiersim {
namespace {

struct Key {
  std::string name;
  Origin origin;
};

// a.b.c as keys with their columns; nothing if a key is empty.
std::optional<std::vector<Key>> split(const std::string& path,
                                      const std::shared_ptr<const TextSource>& source,
                                      Diagnostics& diagnostics) {
  std::vector<Key> keys;
  std::size_t start = 0;
  for (;;) {
    const std::size_t dot = std::min(path.find('.', start), path.size());
    const Origin origin{source, 1, static_cast<int>(start) + 1};
    if (dot == start) {
      diagnostics.report({origin.location(), "an empty key", "write --set a.b=value"});
      return std::nullopt;
    }
    keys.push_back({path.substr(start, dot - start), origin});
    if (dot == path.size()) return keys;
    start = dot + 1;
  }
}

void shift(Origin& origin, int columns) {
  if (origin.line == 1) origin.column += columns;
}

void shift_all(Node& node, int columns) {
  shift(node.origin, columns);
  for (Node& item : node.items.each()) shift_all(item, columns);
  for (Entry& entry : node.entries.each()) {
    shift(entry.key_origin, columns);
    shift_all(entry.value, columns);
  }
}

// A mapping with files of its own replaces the one below it, as it does in a file.
void mark_replacing(Node& node, const std::vector<Importer>& importers) {
  node.replaces =
      node.find("base") != nullptr || std::ranges::any_of(importers, [&](const Importer& importer) {
        return !importer.named_base && node.find(importer.key) != nullptr;
      });
  for (Node& item : node.items.each()) mark_replacing(item, importers);
  for (Entry& entry : node.entries.each()) mark_replacing(entry.value, importers);
}

std::optional<Node> parse_one(const std::string& text, Diagnostics& diagnostics) {
  constexpr std::size_t kMostInAMessage = 120;
  const auto source = std::make_shared<const TextSource>(
      TextSource{"--set '" + shortened(text, kMostInAMessage) + '\'', "--set " + text});
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    diagnostics.report({{source->file, 1, 1}, "no '='", "write --set a.b=value"});
    return std::nullopt;
  }
  const auto keys = split(text.substr(0, equals), source, diagnostics);
  Diagnostics faults;
  auto value = parse_yaml(text.substr(equals + 1), source, faults);
  const int columns = static_cast<int>(equals) + 1;
  for (Diagnostic fault : faults.list()) {
    if (fault.where.line == 1) fault.where.column += columns;
    diagnostics.report(std::move(fault));
  }
  if (!keys || !value) return std::nullopt;
  shift_all(*value, columns);
  if (keys->size() + depth_of(*value) > kMaxDepth) {
    diagnostics.report({{source->file, 1, 1}, "too many keys in one --set", ""});
    return std::nullopt;
  }
  value->origin.source = source;  // also where the value is empty
  for (auto key = keys->rbegin(); key != keys->rend(); ++key) {
    Node parent;
    parent.kind = NodeKind::mapping;
    parent.origin = key->origin;
    parent.entries.edit().push_back({key->name, key->origin, std::move(*value)});
    value = std::move(parent);
  }
  return value;
}

}  // namespace

Node parse_overrides(const std::vector<std::string>& options,
                     const std::vector<Importer>& importers, Diagnostics& diagnostics) {
  Node all;
  all.kind = NodeKind::mapping;
  for (const std::string& text : options) {
    if (auto one = parse_one(text, diagnostics))
      all = overlay(std::move(all), std::move(*one), diagnostics);
    else
      all.damaged = true;
  }
  for (Entry& entry : all.entries.each()) mark_replacing(entry.value, importers);
  return all;
}

}  // namespace tiersim
