// JSON Schema of a kind of file, so that editors complete and explain keys. Only the key `schema`
// is required: any other key may come from a base file, which an editor does not see. For the same
// reason the kinds of a select are `anyOf`: a mapping that leaves its kind to the base matches
// several.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/config/dump.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/scalars.hpp"

namespace tiersim::detail {
namespace {

PlainTree schema_of(const Value& value, const Limits& limits);

PlainTree object_schema(const PlainTree& properties) {
  PlainTree object;
  object.add("type", PlainTree::text("object"));
  object.add("properties", properties);
  object.add("additionalProperties", PlainTree::bare("false"));
  return object;
}

// A name or a list of names.
PlainTree names_schema(std::string_view help) {
  PlainTree text;
  text.add("type", PlainTree::text("string"));
  PlainTree list;
  list.add("type", PlainTree::text("array"));
  list.add("items", text);
  PlainTree either = PlainTree::list();
  either.items = {text, list};
  PlainTree names;
  names.add("description", PlainTree::text(help));
  names.add("anyOf", either);
  return names;
}

PlainTree base_schema() {
  return names_schema("Files that this mapping lies over.");
}

class SchemaWriter final : public Fields {
 public:
  void doc(std::string_view text) override { doc_ = text; }
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  void importable(std::string_view key, std::string_view help, ImportCount count) override {
    PlainTree schema = count == ImportCount::one ? PlainTree{} : names_schema(help);
    if (count == ImportCount::one) {
      schema.add("description", PlainTree::text(help));
      schema.add("type", PlainTree::text("string"));
    }
    for (PlainTree& variant : variants_) variant.add(key, schema);
  }
  void select(std::string_view key, std::string&, const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override {
    std::vector<PlainTree> all;
    for (const Alternative& alternative : alternatives) {
      SchemaWriter own;
      describe_kind(alternative.name, own);
      PlainTree name;
      name.add("description", PlainTree::text(alternative.help));
      name.add("const", PlainTree::text(alternative.name));
      for (const PlainTree& before : variants_)
        for (const PlainTree& with : own.variants_) {
          PlainTree& variant = all.emplace_back(before);
          variant.add(key, name);
          for (const auto& [property, schema] : with.entries) variant.add(property, schema);
        }
    }
    if (!all.empty()) variants_ = std::move(all);
  }

  /// The mapping's schema; `first` stands before its own properties.
  PlainTree take(const PlainTree& first) const {
    PlainTree out;
    if (!doc_.empty()) out.add("description", PlainTree::text(doc_));
    PlainTree objects = PlainTree::list();
    for (const PlainTree& variant : variants_) {
      PlainTree properties = first;
      properties.add("base", base_schema());
      for (const auto& [name, schema] : variant.entries) properties.add(name, schema);
      objects.items.push_back(object_schema(properties));
    }
    if (objects.items.size() > 1) {
      out.add("anyOf", std::move(objects));
      return out;
    }
    for (auto& [key, value] : objects.items.front().entries) out.add(key, std::move(value));
    return out;
  }

 protected:
  void field(const Field& field, const Value& value) override {
    PlainTree schema;
    schema.add("description", PlainTree::text(description(field, value)));
    for (auto& [key, part] : schema_of(value, field.limits).entries)
      if (key != "description") schema.add(key, std::move(part));
    if (!field.required && !std::holds_alternative<StructValue>(value.kind))
      if (PlainTree preset = dump_value(value, Sources::kept); preset.kind == NodeKind::scalar)
        schema.add("default", std::move(preset));
    for (PlainTree& variant : variants_) variant.add(field.key, schema);
  }

 private:
  static std::string description(const Field& field, const Value& value) {
    std::string text(field.help);
    const ScalarValue* scalar = std::get_if<ScalarValue>(&value.kind);
    if (const auto* sourced = std::get_if<SourcedValue>(&value.kind)) scalar = &sourced->value;
    if (scalar != nullptr && !units(*scalar).empty())
      text += fmt::format(" Units: {}.", units(*scalar));
    if (field.limits.any()) text += fmt::format(" Allowed: {}.", field.limits.text());
    if (!field.document_kind.empty())
      text += fmt::format(" Its base has schema tiersim.{}/v1.", field.document_kind);
    return text + (field.required ? " Required." : " Optional.");
  }

  std::string doc_;
  std::vector<PlainTree> variants_ = {PlainTree{}};  // properties; one each with a select
};

void add_bounds(const Limits& limits, PlainTree& schema) {
  const auto bound = [](const Number& number) {
    return std::visit(
        []<class T>(T value) -> PlainTree {
          if constexpr (std::is_arithmetic_v<T>)
            return PlainTree::bare(fmt::format("{}", value));
          else
            return {.kind = NodeKind::null};  // no dimension: never on a plain number
        },
        number);
  };
  if (limits.low) schema.add(limits.low_open ? "exclusiveMinimum" : "minimum", bound(*limits.low));
  if (limits.high) schema.add("maximum", bound(*limits.high));
}

PlainTree schema_of_scalar(const ScalarValue& scalar, const Limits& limits) {
  PlainTree schema;
  const auto type = [&](const char* name) { schema.add("type", PlainTree::text(name)); };
  const bool whole = std::holds_alternative<std::int64_t*>(scalar);
  if (!limits.allowed.empty()) {
    PlainTree allowed = PlainTree::list();
    for (const std::string& word : limits.allowed)
      allowed.items.push_back(whole ? PlainTree::bare(word) : PlainTree::text(word));
    schema.add("enum", std::move(allowed));
  } else if (std::holds_alternative<bool*>(scalar)) {
    type("boolean");
  } else if (whole || std::holds_alternative<double*>(scalar)) {
    type(whole ? "integer" : "number");
    add_bounds(limits, schema);
  } else if (limits.any_scalar) {
    PlainTree types = PlainTree::list();
    for (const char* name : {"string", "number", "boolean"})
      types.items.push_back(PlainTree::text(name));
    schema.add("type", std::move(types));
  } else {
    type("string");
    const std::string list = units(scalar);  // "B, KB, ..."
    if (list.empty()) return schema;
    std::string pattern;
    for (const char c : list)
      if (c != ' ') pattern += c == ',' ? '|' : c;
    schema.add("pattern",
               PlainTree::text(fmt::format("^[0-9]*\\.?[0-9]+([eE][+-]?[0-9]+)? ({})$", pattern)));
  }
  return schema;
}

PlainTree schema_of_names(EnumNames names) {
  PlainTree list = PlainTree::list();
  for (const std::string_view name : names) list.items.push_back(PlainTree::text(name));
  PlainTree schema;
  schema.add("enum", std::move(list));
  return schema;
}

PlainTree schema_of_sourced(const SourcedValue& sourced, const Limits& limits) {
  const PlainTree value = schema_of_scalar(sourced.value, limits);
  PlainTree source;
  source.add("type", PlainTree::text("string"));
  PlainTree ends;
  ends.add("description", PlainTree::text("95 % interval: [low, high], with the value inside."));
  ends.add("type", PlainTree::text("array"));
  ends.add("items", value);
  ends.add("minItems", PlainTree::bare("2"));
  ends.add("maxItems", PlainTree::bare("2"));
  PlainTree properties;
  properties.add("value", value);
  properties.add("class", schema_of_names(kNumberClassNames));
  properties.add("ci95", ends);
  properties.add("source", source);
  PlainTree either = PlainTree::list();
  either.items = {value, object_schema(properties)};
  PlainTree schema;
  schema.add("anyOf", std::move(either));
  return schema;
}

PlainTree schema_of_struct(const StructValue& config, const PlainTree& first = {}) {
  SchemaWriter writer;
  config.describe(writer);
  return writer.take(first);
}

PlainTree schema_of(const Value& value, const Limits& limits) {
  return std::visit(
      [&]<class T>(const T& v) -> PlainTree {
        PlainTree schema;
        if constexpr (std::is_same_v<T, ScalarValue>) {
          return schema_of_scalar(v, limits);
        } else if constexpr (std::is_same_v<T, EnumValue>) {
          return schema_of_names(v.names);
        } else if constexpr (std::is_same_v<T, SourcedValue>) {
          return schema_of_sourced(v, limits);
        } else if constexpr (std::is_same_v<T, StructValue>) {
          return schema_of_struct(v);
        } else {
          v.with_new([&](const Value& inner) { schema = schema_of(inner, limits); });
        }
        if constexpr (std::is_same_v<T, OptionalValue>) return schema;
        PlainTree outer;
        if constexpr (std::is_same_v<T, ListValue>) {
          outer.add("type", PlainTree::text("array"));
          outer.add("items", std::move(schema));
        } else {
          PlainTree properties;
          properties.add("base", base_schema());
          outer = object_schema(properties);
          outer.entries.back().second = std::move(schema);
        }
        return outer;
      },
      value.kind);
}

}  // namespace

std::string schema_text(std::string_view kind, std::string_view title, const StructValue& config) {
  PlainTree tag;
  tag.add("const", PlainTree::text(fmt::format("tiersim.{}/v1", kind)));
  PlainTree first;
  first.add("schema", tag);
  PlainTree required = PlainTree::list();
  required.items.push_back(PlainTree::text("schema"));
  PlainTree root;
  root.add("$schema", PlainTree::text("https://json-schema.org/draft/2020-12/schema"));
  root.add("title", PlainTree::text(title));
  for (auto& [key, part] : schema_of_struct(config, first).entries) root.add(key, std::move(part));
  root.add("required", std::move(required));
  return to_json_pretty(root);
}

}  // namespace tiersim::detail
