// The shape of a JSON value, as data. One tree gives both the strict check of the campaign's files
// and the JSON schema under configs/schema/, so that they cannot differ.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/campaign/json.hpp"

namespace tiersim::kernels::bench {

struct Member;

struct Shape {
  enum class Kind { object, map, array, text, choice, integer, number, boolean };
  Kind kind = Kind::object;
  std::string description;
  std::vector<Member> members;  // object: all members, no others
  // Array: shape of each element; map: shape of each value, names are free
  std::shared_ptr<const Shape> items;
  std::vector<std::string> choices;  // choice
  double minimum = -std::numeric_limits<double>::infinity();
  bool above_minimum = false;  // the minimum itself is not allowed
};

struct Member {
  std::string name;
  Shape shape;
  bool required = true;
};

Shape object(std::vector<Member> members, std::string description = "");
Shape map_of(Shape values, std::string description);
Shape array_of(Shape items, std::string description);
Shape text(std::string description);
Shape choice(std::vector<std::string> choices, std::string description = "");
Shape integer(double minimum, std::string description);
Shape number(double minimum, std::string description);
Shape positive(std::string description);  // a number above zero
Shape boolean(std::string description);

// All mismatches of the value, each "path: problem"; at most 20.
std::vector<std::string> mismatches(const Json& value, const Shape& shape, const std::string& path);

// The shape as JSON schema (draft 2020-12).
Json json_schema(const Shape& shape);

}  // namespace tiersim::kernels::bench
