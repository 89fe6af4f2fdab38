#include "sim/sweep/spec_places.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tiersim {

SpecPlaces::SpecPlaces(const Document& document, Diagnostics& diagnostics,
                       const Diagnostics& before)
    : document_(document), diagnostics_(diagnostics) {
  for (const Diagnostic& diagnostic : before.list()) broken_.push_back(diagnostic.path);
}

bool SpecPlaces::is_broken(const std::string& path) const {
  return std::ranges::any_of(broken_, [&](const std::string& broken) {
    return broken == path || broken.starts_with(path + '.');
  });
}

const Node* SpecPlaces::node_at(std::string_view path) const {
  const Node* node = &document_.root();
  while (node != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view key = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    if (node->kind == NodeKind::sequence) {
      std::size_t index = node->items.size();
      std::from_chars(key.data(), key.data() + key.size(), index);
      node = index < node->items.size() ? &node->items[index] : nullptr;
    } else {
      const Entry* entry = node->find(key);
      node = entry == nullptr ? nullptr : &entry->value;
    }
  }
  return node;
}

Location SpecPlaces::value(const std::string& path) const {
  const Node* node = node_at(path);
  return node == nullptr ? document_.locate(path) : node->origin.location();
}

void SpecPlaces::report(const std::string& path, std::string message, std::string hint) const {
  diagnostics_.report({value(path), std::move(message), std::move(hint), path});
}

Diagnostic SpecPlaces::fault(const std::string& path, const ExpressionError& error) const {
  Location where = value(path);
  const Node* node = node_at(path);
  // The folding of text over several lines is unknown.
  const bool one_line = node != nullptr && node->scalar.find('\n') == std::string::npos;
  if (one_line) where.column += static_cast<int>(error.offset) + (node->quoted ? 1 : 0);
  return {where, error.message, error.hint, path};
}

void SpecPlaces::report(const std::string& path, const ExpressionError& error) const {
  diagnostics_.report(fault(path, error));
}

void SpecPlaces::report_key(const std::string& path, const std::string& key, std::string message,
                            std::string hint) const {
  const Node* node = node_at(path);
  const Entry* entry = node == nullptr ? nullptr : node->find(key);
  diagnostics_.report({entry == nullptr ? value(path) : entry->key_origin.location(),
                       std::move(message), std::move(hint), path});
}

void SpecPlaces::report_value(const std::string& path, const std::string& key, std::string message,
                              std::string hint) const {
  const Node* node = node_at(path);
  const Entry* entry = node == nullptr ? nullptr : node->find(key);
  diagnostics_.report({entry == nullptr ? value(path) : entry->value.origin.location(),
                       std::move(message), std::move(hint), path + '.' + key});
}

}  // namespace tiersim
