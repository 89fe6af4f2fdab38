#pragma once
// A tree of text without origins, which writers build and print as JSON or YAML.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/tree.hpp"

namespace tiersim::detail {

struct PlainTree {
  NodeKind kind = NodeKind::mapping;
  bool is_text = false;     ///< a scalar that JSON puts in quotes
  bool is_sourced = false;  ///< the mapping {value, class, ci95, source} of one number
  std::string scalar = {};
  std::vector<PlainTree> items = {};
  std::vector<std::pair<std::string, PlainTree>> entries = {};

  static PlainTree text(std::string_view value) {
    return {.kind = NodeKind::scalar, .is_text = true, .scalar = std::string(value)};
  }
  /// A number or truth value, as JSON writes it.
  static PlainTree bare(std::string_view value) {
    return {.kind = NodeKind::scalar, .scalar = std::string(value)};
  }
  static PlainTree list() { return {.kind = NodeKind::sequence}; }

  /// Appends an entry; returns its value.
  PlainTree& add(std::string_view key, PlainTree value) {
    return entries.emplace_back(key, std::move(value)).second;
  }
  const PlainTree* find(std::string_view key) const {
    for (const auto& [name, value] : entries)
      if (name == key) return &value;
    return nullptr;
  }
};

}  // namespace tiersim::detail
