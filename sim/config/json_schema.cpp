// JSON Schema of a kind of file, so that editors complete and explain keys. Only the key `schema`
// is required: any other key may come from a base file, which an editor does not see. For the same
// reason the kinds of a select are `anyOf`: a mapping that leaves its kind to the base matches
// several. A schema that stands at several places is one definition ($defs) to which they refer.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/config/dump.hpp"
#include "sim/config/json_layout.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/scalars.hpp"
#include "sim/config/schema_definitions.hpp"

namespace tiersim::detail {
namespace {

// Wide, so that a property with its description, or the definition of a number, is a line.
constexpr std::size_t kColumns = 400;

PlainTree object_schema(const PlainTree& properties) {
  PlainTree object;
  object.add("type", PlainTree::text("object"));
  object.add("properties", properties);
  object.add("additionalProperties", PlainTree::bare("false"));
  return object;
}

PlainTree type_schema(std::string_view type) {
  PlainTree schema;
  schema.add("type", PlainTree::text(type));
  return schema;
}

PlainTree list_schema(PlainTree items) {
  PlainTree schema = type_schema("array");
  schema.add("items", std::move(items));
  return schema;
}

PlainTree either_schema(PlainTree one, PlainTree other) {
  PlainTree either = PlainTree::list();
  either.items = {std::move(one), std::move(other)};
  PlainTree schema;
  schema.add("anyOf", std::move(either));
  return schema;
}

PlainTree described(std::string_view help, const PlainTree& schema) {
  PlainTree out;
  out.add("description", PlainTree::text(help));
  for (const auto& [key, part] : schema.entries)
    if (key != "description") out.add(key, part);
  return out;
}

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

PlainTree schema_of_names(EnumNames names) {
  PlainTree list = PlainTree::list();
  for (const std::string_view name : names) list.items.push_back(PlainTree::text(name));
  PlainTree schema;
  schema.add("enum", std::move(list));
  return schema;
}

// A name for a definition, of letters, digits and underscores: "whole_number_1_to_4096".
std::string definition_name(const ScalarValue& scalar, const Limits& limits) {
  std::string words = noun(scalar);
  for (const char* article : {"a ", "an "})
    if (words.starts_with(article)) words.erase(0, std::string_view(article).size());
  if (std::holds_alternative<std::int64_t*>(scalar) || std::holds_alternative<double*>(scalar))
    words += ' ' + limits.text();
  std::string name;
  for (const char c : words) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
    if (is_plain)
      name += c;
    else if (!name.ends_with('_'))
      name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

class SchemaWriter {
 public:
  PlainTree of_struct(const StructValue& config, const PlainTree& first);
  PlainTree base() {
    return definitions_.refer("base",
                              described("Files that this mapping lies over.", one_or_several()));
  }
  /// A name or a list of names.
  PlainTree names() { return definitions_.refer("names", one_or_several()); }
  /// `name` is what a definition of it may be called.
  PlainTree of(const Value& value, const Limits& limits, const std::string& name);
  SchemaDefinitions& definitions() { return definitions_; }

 private:
  static PlainTree one_or_several() {
    return either_schema(type_schema("string"), list_schema(type_schema("string")));
  }
  PlainTree of_scalar(const ScalarValue& scalar, const Limits& limits);
  PlainTree of_sourced(const SourcedValue& sourced, const Limits& limits);

  SchemaDefinitions definitions_;
};

// The properties of a mapping, once for each kind of a select.
class PropertyWriter final : public Fields {
 public:
  explicit PropertyWriter(SchemaWriter& writer) : writer_(writer) {}

  void doc(std::string_view text) override { doc_ = text; }
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  void importable(std::string_view key, std::string_view help, ImportCount count) override {
    const PlainTree schema = count == ImportCount::one ? type_schema("string") : writer_.names();
    for (PlainTree& variant : variants_) variant.add(key, described(help, schema));
  }
  void importable_file(std::string_view key, std::string_view help,
                       const DescribeMapping& describe_file) override {
    PropertyWriter file(writer_);
    describe_file(file);
    const PlainTree schema =
        either_schema(type_schema("string"), object_schema(file.variants_.front()));
    for (PlainTree& variant : variants_) variant.add(key, described(help, schema));
  }
  void select(std::string_view key, std::string&, const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override {
    std::vector<PlainTree> all;
    for (const Alternative& alternative : alternatives) {
      PropertyWriter own(writer_);
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
      properties.add("base", writer_.base());
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
    PlainTree schema = described(description(field, value),
                                 writer_.of(value, field.limits, std::string(field.key)));
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

  SchemaWriter& writer_;
  std::string doc_;
  std::vector<PlainTree> variants_ = {PlainTree{}};  // properties; one each with a select
};

PlainTree SchemaWriter::of_scalar(const ScalarValue& scalar, const Limits& limits) {
  const bool whole = std::holds_alternative<std::int64_t*>(scalar);
  PlainTree schema;
  if (!limits.allowed.empty()) {
    PlainTree allowed = PlainTree::list();
    for (const std::string& word : limits.allowed)
      allowed.items.push_back(whole ? PlainTree::bare(word) : PlainTree::text(word));
    schema.add("enum", std::move(allowed));
    return schema;
  }
  if (std::holds_alternative<bool*>(scalar)) return type_schema("boolean");
  if (whole || std::holds_alternative<double*>(scalar)) {
    schema = type_schema(whole ? "integer" : "number");
    add_bounds(limits, schema);
    return schema;
  }
  if (limits.any_scalar) {
    PlainTree types = PlainTree::list();
    for (const char* name : {"string", "number", "boolean"})
      types.items.push_back(PlainTree::text(name));
    schema.add("type", std::move(types));
    return schema;
  }
  schema = type_schema("string");
  const std::string list = units(scalar);  // "B, KB, ..."
  if (list.empty()) return schema;
  std::string pattern;
  for (const char c : list)
    if (c != ' ') pattern += c == ',' ? '|' : c;
  schema.add("pattern",
             PlainTree::text(fmt::format("^[0-9]*\\.?[0-9]+([eE][+-]?[0-9]+)? ({})$", pattern)));
  return definitions_.refer(definition_name(scalar, limits), schema);
}

PlainTree SchemaWriter::of_sourced(const SourcedValue& sourced, const Limits& limits) {
  const PlainTree value = of_scalar(sourced.value, limits);
  PlainTree ends =
      described("95 % interval: [low, high], with the value inside.", list_schema(value));
  ends.add("minItems", PlainTree::bare("2"));
  ends.add("maxItems", PlainTree::bare("2"));
  PlainTree properties;
  properties.add("value", value);
  properties.add("class", schema_of_names(kNumberClassNames));
  properties.add("ci95", ends);
  properties.add("source", type_schema("string"));
  return definitions_.refer("sourced_" + definition_name(sourced.value, limits),
                            either_schema(value, object_schema(properties)));
}

PlainTree SchemaWriter::of_struct(const StructValue& config, const PlainTree& first) {
  PropertyWriter writer(*this);
  config.describe(writer);
  return writer.take(first);
}

PlainTree SchemaWriter::of(const Value& value, const Limits& limits, const std::string& name) {
  return std::visit(
      [&]<class T>(const T& v) -> PlainTree {
        PlainTree schema;
        if constexpr (std::is_same_v<T, ScalarValue>) {
          return of_scalar(v, limits);
        } else if constexpr (std::is_same_v<T, EnumValue>) {
          return schema_of_names(v.names);
        } else if constexpr (std::is_same_v<T, SourcedValue>) {
          return of_sourced(v, limits);
        } else if constexpr (std::is_same_v<T, StructValue>) {
          return definitions_.refer(name, of_struct(v, {}));
        } else if constexpr (std::is_same_v<T, OptionalValue>) {
          v.with_new([&](const Value& inner) { schema = of(inner, limits, name); });
          return schema;
        } else if constexpr (std::is_same_v<T, ListValue>) {
          v.with_new([&](const Value& inner) { schema = of(inner, limits, name + ".item"); });
          return list_schema(std::move(schema));
        } else {
          v.with_new([&](const Value& inner) { schema = of(inner, limits, name + ".entry"); });
          PlainTree properties;
          properties.add("base", base());
          PlainTree outer = object_schema(properties);
          outer.entries.back().second = std::move(schema);
          return outer;
        }
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
  SchemaWriter writer;
  for (auto& [key, part] : writer.of_struct(config, first).entries) root.add(key, std::move(part));
  root.add("required", std::move(required));
  writer.definitions().place(root);
  return pretty_json(to_json_line(root), kColumns);
}

}  // namespace tiersim::detail
