#include "sim/config/tree.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

// The child that a prefix of the path names, and the rest of the path. Keys may contain dots.
struct Step {
  const Node* node = nullptr;
  const Origin* origin = nullptr;
  std::string_view rest;
};

Step step(const Node& node, std::string_view path) {
  for (const Entry& entry : node.entries) {
    if (!path.starts_with(entry.key)) continue;
    const std::string_view rest = path.substr(entry.key.size());
    if (rest.empty()) return {&entry.value, &entry.key_origin, rest};
    if (rest[0] == '.') return {&entry.value, &entry.key_origin, rest.substr(1)};
  }
  if (node.kind != NodeKind::sequence) return {};
  std::size_t index = 0;
  const char* end = path.data() + path.size();
  const auto [at, error] = std::from_chars(path.data(), end, index);
  if (error != std::errc{} || index >= node.items.size() || (at != end && *at != '.')) return {};
  const Node& item = node.items[index];
  const auto used = static_cast<std::size_t>(at - path.data());
  return {&item, &item.origin, path.substr(std::min(path.size(), used + 1))};
}

}  // namespace

Location Origin::location() const {
  return {source ? source->file : "default", line, column};
}

std::string Origin::text() const {
  if (!source) return "default";
  return is_override() ? source->label : fmt::format("{}:{}", source->file, line);
}

const char* unstated_source(const Origin& origin) {
  return origin.is_override() ? "command line" : "not stated";
}

const Entry* Node::find(std::string_view key) const {
  const auto it = std::ranges::find(entries, key, &Entry::key);
  return it == entries.end() ? nullptr : &*it;
}

Entry* Node::edit(std::string_view key) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].key == key) return &entries.each()[i];
  return nullptr;
}

std::string Node::what() const {
  switch (kind) {
    case NodeKind::null:
      return "nothing";
    case NodeKind::scalar:
      return '\'' + excerpt(scalar) + '\'';
    case NodeKind::sequence:
      return "a list";
    case NodeKind::mapping:
      break;
  }
  return "a mapping";
}

std::size_t count_nodes(const Node& node) {
  std::size_t count = 1;
  for (const Node& item : node.items) count += count_nodes(item);
  for (const Entry& entry : node.entries) count += count_nodes(entry.value);
  return count;
}

std::size_t depth_of(const Node& node) {
  std::size_t depth = 0;
  for (const Node& item : node.items) depth = std::max(depth, 1 + depth_of(item));
  for (const Entry& entry : node.entries) depth = std::max(depth, 1 + depth_of(entry.value));
  return depth;
}

Origin origin_at(const Node& node, std::string_view path, const Origin& fallback) {
  const Node* at = &node;
  const Origin* origin = &fallback;
  while (!path.empty()) {
    const Step next = step(*at, path);
    if (next.node == nullptr) break;
    at = next.node;
    origin = next.origin;
    path = next.rest;
  }
  return *origin;
}

}  // namespace tiersim
