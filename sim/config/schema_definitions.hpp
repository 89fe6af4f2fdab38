#pragma once
// The shared parts of a JSON Schema. Who writes one gives every part that may stand elsewhere too
// to refer(), and stands what it returns in its place; at the end, place() adds `$defs`.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/plain_tree.hpp"

namespace tiersim::detail {

class SchemaDefinitions {
 public:
  /// A reference to the schema. Equal schemas are one definition, called by the name that the first
  /// of them was given here, with a number where another schema has that name.
  PlainTree refer(std::string_view name, const PlainTree& schema);

  /// Puts a definition to which there is but one reference where that stands, and adds the others
  /// as `$defs` of the root, those first that the root needs first.
  void place(PlainTree& root) const;

 private:
  struct Definition {
    std::string name;
    PlainTree schema;
  };

  const Definition* referred(const PlainTree& schema) const;
  /// Every definition below the schema, in the order in which they are met, and how often each is.
  void count(const PlainTree& schema, std::vector<const Definition*>& met,
             std::map<std::string, int>& uses) const;
  void put_single(PlainTree& schema, const std::map<std::string, int>& uses) const;

  std::vector<Definition> definitions_;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::string, std::size_t> by_text_;
};

}  // namespace tiersim::detail
