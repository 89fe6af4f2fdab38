#pragma once
// The members of a config struct as the visitors see them: a Value refers to a member of any of the
// types that a field may have, so that visitors are ordinary classes in .cpp files. Only fields.hpp
// makes them; a config struct never mentions them.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"

namespace tiersim {

class Fields;

namespace detail {

struct Value;
template <class... T>
struct ScalarTypes {
  using Pointers = std::variant<T*...>;
  template <class X>
  static constexpr bool kHave = (std::is_same_v<X, T> || ...);
};
using Scalars = WithQuantities<ScalarTypes, bool, std::int64_t, double, std::string>;
using ScalarValue = Scalars::Pointers;
using EnumNames = std::span<const std::string_view>;
using OnValue = std::function<void(const Value&)>;

struct EnumValue {
  EnumNames names;
  std::function<std::size_t()> get;
  std::function<void(std::size_t)> set;
};
/// The 95 % interval of a number, which may be absent.
struct IntervalValue {
  std::function<bool()> has;
  std::function<void(bool)> set;  ///< true: an interval with ends of 0; false: none
  std::function<ScalarValue()> low;
  std::function<ScalarValue()> high;
};
struct SourcedValue {
  ScalarValue value;
  NumberClass* number_class;
  std::string* source;
  IntervalValue ci95;
};
struct StructValue {
  std::function<void(Fields&)> describe;
};
struct ListValue {
  std::function<std::size_t()> size;
  std::function<void(std::size_t)> resize;
  std::function<Value(std::size_t)> at;
  std::function<void(const OnValue&)> with_new;  ///< calls with a new element outside the list
};
struct MapValue {
  std::function<std::vector<std::string>()> keys;
  std::function<void()> clear;
  std::function<Value(const std::string&)> at;  ///< adds the entry if it is missing
  std::function<void(const OnValue&)> with_new;
};
struct OptionalValue {
  std::function<bool()> has;
  std::function<void(bool)> set;  ///< true: a default value; false: none
  std::function<Value()> get;
  std::function<void(const OnValue&)> with_new;
};

struct Value {
  std::variant<ScalarValue, EnumValue, SourcedValue, StructValue, ListValue, MapValue,
               OptionalValue>
      kind;
};

template <class T>
concept Scalar = Scalars::kHave<T>;

template <Scalar T>
Value value_of(T& member, EnumNames) {
  return {ScalarValue(&member)};
}

template <class T>
requires std::is_enum_v<T> Value value_of(T& member, EnumNames names) {
  return {EnumValue{names, [&member] { return static_cast<std::size_t>(member); },
                    [&member](std::size_t index) { member = static_cast<T>(index); }}};
}

template <Scalar T>
IntervalValue interval_of(std::optional<Interval<T>>& member) {
  return {[&member] { return member.has_value(); },
          [&member](bool present) {
            member.reset();
            if (present) member.emplace();
          },
          [&member] { return ScalarValue(&member->low); },
          [&member] { return ScalarValue(&member->high); }};
}

template <Scalar T>
Value value_of(Sourced<T>& member, EnumNames) {
  static_assert(!std::is_same_v<T, bool> && !std::is_same_v<T, std::string>);
  return {
      SourcedValue{&member.value, &member.number_class, &member.source, interval_of(member.ci95)}};
}

/// A struct with `void describe(Fields&, T&)` beside it.
template <class T>
requires(std::is_class_v<T> && !Scalar<T>) Value value_of(T& member, EnumNames) {
  return {StructValue{[&member](Fields& f) { describe(f, member); }}};
}

// Declared before any is defined, so that they nest in every order.
template <class T>
Value value_of(std::vector<T>& member, EnumNames names);
template <class T>
Value value_of(std::map<std::string, T>& member, EnumNames names);
template <class T>
Value value_of(std::optional<T>& member, EnumNames names);

template <class T>
std::function<void(const OnValue&)> new_value(EnumNames names) {
  return [names](const OnValue& call) {
    T fresh{};
    call(value_of(fresh, names));
  };
}

template <class T>
Value value_of(std::vector<T>& member, EnumNames names) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements to refer to");
  return {ListValue{[&member] { return member.size(); },
                    [&member](std::size_t size) {
                      member.clear();
                      member.resize(size);
                    },
                    [&member, names](std::size_t i) { return value_of(member[i], names); },
                    new_value<T>(names)}};
}

template <class T>
Value value_of(std::map<std::string, T>& member, EnumNames names) {
  return {
      MapValue{[&member] {
                 std::vector<std::string> keys;
                 for (const auto& [key, value] : member) keys.push_back(key);
                 return keys;
               },
               [&member] { member.clear(); },
               [&member, names](const std::string& key) { return value_of(member[key], names); },
               new_value<T>(names)}};
}

template <class T>
Value value_of(std::optional<T>& member, EnumNames names) {
  return {OptionalValue{[&member] { return member.has_value(); },
                        [&member](bool present) {
                          member.reset();
                          if (present) member.emplace();
                        },
                        [&member, names] { return value_of(*member, names); },
                        new_value<T>(names)}};
}

}  // namespace detail
}  // namespace tiersim
