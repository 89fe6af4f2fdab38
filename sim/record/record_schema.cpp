#include "sim/record/record_schema.hpp"

#include <string_view>
#include <type_traits>
#include <utility>

#include "sim/config/json_layout.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/plain_tree.hpp"
#include "sim/record/record_fields.hpp"

namespace tiersim {
namespace {

using detail::PlainTree;

PlainTree type_schema(std::string_view type) {
  PlainTree out;
  out.add("type", PlainTree::text(type));
  return out;
}

// A list or a map whose entries are `inner`.
PlainTree container_schema(std::string_view type, std::string_view keyword, PlainTree inner) {
  PlainTree out = type_schema(type);
  out.add(keyword, std::move(inner));
  return out;
}

PlainTree class_schema() {
  PlainTree names = PlainTree::list();
  for (const std::string_view name : kNumberClassNames)
    names.items.push_back(PlainTree::text(name));
  PlainTree out;
  out.add("enum", std::move(names));
  return out;
}

template <class T>
PlainTree schema_of(const T& value, PlainTree& definitions);

// Makes the schema of an object from its fields. Objects below it are definitions of the root.
class FieldSchemas : public record::Visitor<FieldSchemas> {
 public:
  explicit FieldSchemas(PlainTree& definitions) : definitions_(definitions) {}

  void doc(std::string_view name, std::string_view help) {
    name_ = name;
    help_ = help;
  }
  template <class T>
  void field(const record::Field& f, const T& member) {
    if (f.presence == record::Presence::in_stores) return;
    PlainTree schema;
    schema.add("description", PlainTree::text(f.help));
    for (auto& [key, part] : schema_of(member, definitions_).entries)
      schema.add(key, std::move(part));
    properties_.add(f.key, std::move(schema));
    if (f.presence == record::Presence::always || f.presence == record::Presence::in_results)
      required_.items.push_back(PlainTree::text(f.key));
  }

  std::string_view name() const { return name_; }
  PlainTree take() {
    PlainTree out;
    out.add("description", PlainTree::text(help_));
    out.add("type", PlainTree::text("object"));
    out.add("properties", std::move(properties_));
    out.add("additionalProperties", PlainTree::bare("false"));
    out.add("required", std::move(required_));
    return out;
  }

 private:
  PlainTree& definitions_;
  std::string_view name_;
  std::string_view help_;
  PlainTree properties_;
  PlainTree required_ = PlainTree::list();
};

template <class T>
PlainTree object_reference(const T& value, PlainTree& definitions) {
  FieldSchemas fields(definitions);
  record::describe(fields, value);
  if (definitions.find(fields.name()) == nullptr) definitions.add(fields.name(), fields.take());
  PlainTree out;
  out.add("$ref", PlainTree::text("#/$defs/" + std::string(fields.name())));
  return out;
}

// The schema of a type; `value` may be an empty one.
template <class T>
PlainTree schema_of(const T& value, PlainTree& definitions) {
  if constexpr (std::is_same_v<T, bool>) {
    return type_schema("boolean");
  } else if constexpr (std::is_integral_v<T>) {
    return type_schema("integer");
  } else if constexpr (std::is_floating_point_v<T>) {
    return type_schema("number");
  } else if constexpr (std::is_same_v<T, std::string>) {
    return type_schema("string");
  } else if constexpr (std::is_same_v<T, NumberClass>) {
    return class_schema();
  } else if constexpr (std::is_same_v<T, record::Tag>) {
    PlainTree out;
    out.add("const", PlainTree::text(value.text));
    return out;
  } else if constexpr (record::kIsJsonText<T>) {
    return type_schema("object");
  } else if constexpr (record::kIsOptional<T>) {
    return schema_of(typename T::value_type{}, definitions);
  } else if constexpr (record::kIsInterval<T>) {
    PlainTree out = container_schema("array", "items", schema_of(value.low, definitions));
    out.add("minItems", PlainTree::bare("2"));
    out.add("maxItems", PlainTree::bare("2"));
    return out;
  } else if constexpr (record::kIsSeries<T>) {
    return container_schema("object", "additionalProperties",
                            schema_of(std::vector<double>(), definitions));
  } else if constexpr (record::kIsList<T>) {
    return container_schema("array", "items", schema_of(typename T::value_type{}, definitions));
  } else if constexpr (record::kIsMap<T>) {
    return container_schema("object", "additionalProperties",
                            schema_of(typename T::mapped_type{}, definitions));
  } else {
    return object_reference(value, definitions);
  }
}

}  // namespace

std::string record_schema() {
  PlainTree definitions;
  FieldSchemas fields(definitions);
  const RunRecord record;
  record::describe(fields, record);
  PlainTree root;
  root.add("$schema", PlainTree::text("https://json-schema.org/draft/2020-12/schema"));
  root.add("title", PlainTree::text("tiersim record of a run"));
  for (auto& [key, part] : fields.take().entries) root.add(key, std::move(part));
  root.add("$defs", std::move(definitions));
  return pretty_json(detail::to_json_line(root));
}

}  // namespace tiersim
