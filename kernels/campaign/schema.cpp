#include "kernels/campaign/schema.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tiersim::kernels::bench {
namespace {

constexpr std::size_t kMostMismatches = 20;
using Problems = std::vector<std::string>;

void check(const Json& value, const Shape& shape, const std::string& path, Problems& problems);

void check_object(const Json& value, const Shape& shape, const std::string& path,
                  Problems& problems) {
  for (const Member& member : shape.members) {
    const Json* inner = value.find(member.name);
    if (inner != nullptr) {
      check(*inner, member.shape, path + "." + member.name, problems);
    } else if (member.required) {
      problems.push_back(path + ": '" + member.name + "' is missing");
    }
  }
  for (const auto& named : value.object()) {
    const bool known = std::any_of(shape.members.begin(), shape.members.end(),
                                   [&](const Member& m) { return m.name == named.first; });
    if (!known) problems.push_back(path + ": '" + named.first + "' is not known");
  }
}

void check_number(const Json& value, const Shape& shape, const std::string& path,
                  Problems& problems) {
  const double seen = value.number();
  if (seen > shape.minimum || (seen == shape.minimum && !shape.above_minimum)) return;
  problems.push_back(path + ": " + value.dump() + " is not " +
                     (shape.above_minimum ? "above " : "at least ") + Json(shape.minimum).dump());
}

const char* name_of(Shape::Kind kind) {
  switch (kind) {
    case Shape::Kind::object:
    case Shape::Kind::map:
      return "object";
    case Shape::Kind::array:
      return "array";
    case Shape::Kind::text:
    case Shape::Kind::choice:
      return "string";
    case Shape::Kind::integer:
      return "integer";
    case Shape::Kind::number:
      return "number";
    case Shape::Kind::boolean:
      break;
  }
  return "boolean";
}

bool fits_kind(const Json& value, Shape::Kind kind) {
  switch (kind) {
    case Shape::Kind::object:
    case Shape::Kind::map:
      return value.is_object();
    case Shape::Kind::array:
      return value.is_array();
    case Shape::Kind::text:
    case Shape::Kind::choice:
      return value.is_string();
    case Shape::Kind::integer:
      return value.is_integer();
    case Shape::Kind::number:
      return value.is_number();
    case Shape::Kind::boolean:
      break;
  }
  return value.is_bool();
}

void check(const Json& value, const Shape& shape, const std::string& path, Problems& problems) {
  if (problems.size() >= kMostMismatches) return;
  if (!fits_kind(value, shape.kind)) {
    problems.push_back(path + ": expected " + name_of(shape.kind) + ", found " +
                       value.dump().substr(0, 40));
    return;
  }
  switch (shape.kind) {
    case Shape::Kind::object:
      return check_object(value, shape, path, problems);
    case Shape::Kind::map:
      for (const auto& [name, inner] : value.object()) {
        std::string place = path;
        place.append(".").append(name);
        check(inner, *shape.items, place, problems);
      }
      return;
    case Shape::Kind::array:
      for (std::size_t i = 0; i < value.array().size(); ++i) {
        check(value.array()[i], *shape.items, path + "[" + std::to_string(i) + "]", problems);
      }
      return;
    case Shape::Kind::choice:
      if (std::find(shape.choices.begin(), shape.choices.end(), value.text()) ==
          shape.choices.end()) {
        problems.push_back(path + ": '" + value.text() + "' is none of its values");
      }
      return;
    case Shape::Kind::integer:
    case Shape::Kind::number:
      return check_number(value, shape, path, problems);
    case Shape::Kind::text:
    case Shape::Kind::boolean:
      return;
  }
}

Shape shape_of(Shape::Kind kind, std::string description) {
  Shape shape;
  shape.kind = kind;
  shape.description = std::move(description);
  return shape;
}

void describe_members(Json& out, const Shape& shape) {
  Json properties{Json::Object{}};
  Json required{Json::Array{}};
  for (const Member& member : shape.members) {
    properties.set(member.name, json_schema(member.shape));
    if (member.required) required.push_back(member.name);
  }
  out.set("properties", std::move(properties));
  out.set("required", std::move(required));
  out.set("additionalProperties", false);
}

}  // namespace

Shape object(std::vector<Member> members, std::string description) {
  Shape shape = shape_of(Shape::Kind::object, std::move(description));
  shape.members = std::move(members);
  return shape;
}

Shape map_of(Shape values, std::string description) {
  Shape shape = shape_of(Shape::Kind::map, std::move(description));
  shape.items = std::make_shared<const Shape>(std::move(values));
  return shape;
}

Shape array_of(Shape items, std::string description) {
  Shape shape = shape_of(Shape::Kind::array, std::move(description));
  shape.items = std::make_shared<const Shape>(std::move(items));
  return shape;
}

Shape text(std::string description) {
  return shape_of(Shape::Kind::text, std::move(description));
}

Shape choice(std::vector<std::string> choices, std::string description) {
  Shape shape = shape_of(Shape::Kind::choice, std::move(description));
  shape.choices = std::move(choices);
  return shape;
}

Shape integer(double minimum, std::string description) {
  Shape shape = shape_of(Shape::Kind::integer, std::move(description));
  shape.minimum = minimum;
  return shape;
}

Shape number(double minimum, std::string description) {
  Shape shape = shape_of(Shape::Kind::number, std::move(description));
  shape.minimum = minimum;
  return shape;
}

Shape positive(std::string description) {
  Shape shape = number(0, std::move(description));
  shape.above_minimum = true;
  return shape;
}

Shape boolean(std::string description) {
  return shape_of(Shape::Kind::boolean, std::move(description));
}

std::vector<std::string> mismatches(const Json& value, const Shape& shape,
                                    const std::string& path) {
  Problems problems;
  check(value, shape, path, problems);
  return problems;
}

Json json_schema(const Shape& shape) {
  Json out{Json::Object{}};
  if (!shape.description.empty()) out.set("description", shape.description);
  if (shape.kind == Shape::Kind::choice) {
    Json values{Json::Array{}};
    for (const std::string& each : shape.choices) values.push_back(each);
    return out.set("enum", std::move(values));
  }
  out.set("type", name_of(shape.kind));
  if (shape.kind == Shape::Kind::object) describe_members(out, shape);
  if (shape.kind == Shape::Kind::map) out.set("additionalProperties", json_schema(*shape.items));
  if (shape.kind == Shape::Kind::array) out.set("items", json_schema(*shape.items));
  if (std::isfinite(shape.minimum)) {
    out.set(shape.above_minimum ? "exclusiveMinimum" : "minimum", shape.minimum);
  }
  return out;
}

}  // namespace tiersim::kernels::bench
