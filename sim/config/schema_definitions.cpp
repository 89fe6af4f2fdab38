#include "sim/config/schema_definitions.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/config/json_text.hpp"

namespace tiersim::detail {
namespace {

constexpr std::string_view kReference = "$ref";
constexpr std::string_view kPath = "#/$defs/";

}  // namespace

PlainTree SchemaDefinitions::refer(std::string_view name, const PlainTree& schema) {
  const auto [found, is_new] = by_text_.try_emplace(to_json_line(schema), definitions_.size());
  if (is_new) {
    std::string own(name);
    for (int number = 2; by_name_.contains(own); ++number) own = fmt::format("{}_{}", name, number);
    by_name_.emplace(own, definitions_.size());
    definitions_.push_back({std::move(own), schema});
  }
  PlainTree reference;
  reference.add(kReference, PlainTree::text(std::string(kPath) + definitions_[found->second].name));
  return reference;
}

const SchemaDefinitions::Definition* SchemaDefinitions::referred(const PlainTree& schema) const {
  const PlainTree* reference = schema.find(kReference);
  if (reference == nullptr) return nullptr;
  return &definitions_[by_name_.at(reference->scalar.substr(kPath.size()))];
}

void SchemaDefinitions::count(const PlainTree& schema, std::vector<const Definition*>& met,
                              std::map<std::string, int>& uses) const {
  if (const Definition* definition = referred(schema);
      definition != nullptr && ++uses[definition->name] == 1) {
    met.push_back(definition);
    count(definition->schema, met, uses);
  }
  for (const PlainTree& item : schema.items) count(item, met, uses);
  for (const auto& [key, value] : schema.entries) count(value, met, uses);
}

void SchemaDefinitions::put_single(PlainTree& schema,
                                   const std::map<std::string, int>& uses) const {
  if (const Definition* definition = referred(schema);
      definition != nullptr && uses.at(definition->name) == 1) {
    PlainTree put;
    for (auto& [key, value] : schema.entries) {
      if (key != kReference) {
        put.add(key, std::move(value));
        continue;
      }
      for (const auto& [of_definition, part] : definition->schema.entries)
        if (schema.find(of_definition) == nullptr) put.add(of_definition, part);
    }
    schema = std::move(put);
    return put_single(schema, uses);
  }
  for (PlainTree& item : schema.items) put_single(item, uses);
  for (auto& [key, value] : schema.entries) put_single(value, uses);
}

void SchemaDefinitions::place(PlainTree& root) const {
  std::vector<const Definition*> met;
  std::map<std::string, int> uses;
  count(root, met, uses);
  put_single(root, uses);
  PlainTree shared;
  for (const Definition* definition : met) {
    if (uses.at(definition->name) == 1) continue;
    put_single(shared.add(definition->name, definition->schema), uses);
  }
  if (!shared.entries.empty()) root.add("$defs", std::move(shared));
}

}  // namespace tiersim::detail
