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
using OnEntry = std::function<void(const std::string& key, const Value&)>;

// The following refer to the member by its address and to the functions of its type: they are made
// anew for each field of each pass, so they own nothing.

struct EnumValue {
  EnumNames names;
  void* member;
  std::size_t (*get_index)(const void*);
  void (*set_index)(void*, std::size_t);

  std::size_t get() const { return get_index(member); }
  void set(std::size_t index) const { set_index(member, index); }
};
/// The 95 % interval of a number, which may be absent.
struct IntervalValue {
  struct Functions {
    bool (*has)(const void*);
    void (*set)(void*, bool);
    ScalarValue (*low)(void*);
    ScalarValue (*high)(void*);
  };
  void* member;
  const Functions* of_type;

  bool has() const { return of_type->has(member); }
  /// True: an interval with ends of 0; false: none.
  void set(bool present) const { of_type->set(member, present); }
  ScalarValue low() const { return of_type->low(member); }
  ScalarValue high() const { return of_type->high(member); }
};
struct SourcedValue {
  ScalarValue value;
  NumberClass* number_class;
  std::string* source;
  IntervalValue ci95;
};
struct StructValue {
  void* member;
  void (*describe_member)(Fields&, void*);

  void describe(Fields& fields) const { describe_member(fields, member); }
};
struct ListValue {
  struct Functions {
    std::size_t (*size)(const void*);
    void (*resize)(void*, std::size_t);
    Value (*at)(void*, std::size_t, EnumNames);
    void (*with_new)(EnumNames, const OnValue&);
  };
  void* member;
  EnumNames names;
  const Functions* of_type;

  std::size_t size() const { return of_type->size(member); }
  void resize(std::size_t size) const { of_type->resize(member, size); }
  Value at(std::size_t index) const;
  /// Calls with a new element outside the list.
  void with_new(const OnValue& call) const { of_type->with_new(names, call); }
};
struct MapValue {
  struct Functions {
    void (*for_each)(void*, EnumNames, const OnEntry&);
    void (*clear)(void*);
    Value (*at)(void*, const std::string&, EnumNames);
    void (*with_new)(EnumNames, const OnValue&);
  };
  void* member;
  EnumNames names;
  const Functions* of_type;

  /// In the order of the keys.
  void for_each(const OnEntry& call) const { of_type->for_each(member, names, call); }
  void clear() const { of_type->clear(member); }
  /// Adds the entry if it is missing.
  Value at(const std::string& key) const;
  void with_new(const OnValue& call) const { of_type->with_new(names, call); }
};
struct OptionalValue {
  struct Functions {
    bool (*has)(const void*);
    void (*set)(void*, bool);
    Value (*get)(void*, EnumNames);
    void (*with_new)(EnumNames, const OnValue&);
  };
  void* member;
  EnumNames names;
  const Functions* of_type;

  bool has() const { return of_type->has(member); }
  /// True: a default value; false: none.
  void set(bool present) const { of_type->set(member, present); }
  Value get() const;
  void with_new(const OnValue& call) const { of_type->with_new(names, call); }
};

struct Value {
  std::variant<ScalarValue, EnumValue, SourcedValue, StructValue, ListValue, MapValue,
               OptionalValue>
      kind;
};

inline Value ListValue::at(std::size_t index) const {
  return of_type->at(member, index, names);
}
inline Value MapValue::at(const std::string& key) const {
  return of_type->at(member, key, names);
}
inline Value OptionalValue::get() const {
  return of_type->get(member, names);
}

template <class T>
T& as(void* member) {
  return *static_cast<T*>(member);
}
template <class T>
const T& as(const void* member) {
  return *static_cast<const T*>(member);
}

template <class T>
concept Scalar = Scalars::kHave<T>;

template <Scalar T>
Value value_of(T& member, EnumNames) {
  return {ScalarValue(&member)};
}

template <class T>
requires std::is_enum_v<T> Value value_of(T& member, EnumNames names) {
  return {EnumValue{names, &member,
                    [](const void* m) { return static_cast<std::size_t>(as<T>(m)); },
                    [](void* m, std::size_t index) { as<T>(m) = static_cast<T>(index); }}};
}

template <Scalar T>
IntervalValue interval_of(std::optional<Interval<T>>& member) {
  using Member = std::optional<Interval<T>>;
  static constexpr IntervalValue::Functions kFunctions{
      [](const void* m) { return as<Member>(m).has_value(); },
      [](void* m, bool present) {
        as<Member>(m).reset();
        if (present) as<Member>(m).emplace();
      },
      [](void* m) { return ScalarValue(&as<Member>(m)->low); },
      [](void* m) { return ScalarValue(&as<Member>(m)->high); }};
  return {&member, &kFunctions};
}

template <Scalar T>
Value value_of(Sourced<T>& member, EnumNames) {
  static_assert(!std::is_same_v<T, bool> && !std::is_same_v<T, std::string>);
  return {
      SourcedValue{&member.value, &member.number_class, &member.source, interval_of(member.ci95)}};
}

/// The struct as its describe() function sees it.
template <class T>
StructValue struct_value(T& member) {
  return {&member, [](Fields& f, void* m) { describe(f, as<T>(m)); }};
}

/// A struct with `void describe(Fields&, T&)` beside it.
template <class T>
requires(std::is_class_v<T> && !Scalar<T>) Value value_of(T& member, EnumNames) {
  return {struct_value(member)};
}

// Declared before any is defined, so that they nest in every order.
template <class T>
Value value_of(std::vector<T>& member, EnumNames names);
template <class T>
Value value_of(std::map<std::string, T>& member, EnumNames names);
template <class T>
Value value_of(std::optional<T>& member, EnumNames names);

template <class T>
void with_new_value(EnumNames names, const OnValue& call) {
  T fresh{};
  call(value_of(fresh, names));
}

template <class T>
Value value_of(std::vector<T>& member, EnumNames names) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements to refer to");
  using Member = std::vector<T>;
  static constexpr ListValue::Functions kFunctions{
      [](const void* m) { return as<Member>(m).size(); },
      [](void* m, std::size_t size) {
        as<Member>(m).clear();
        as<Member>(m).resize(size);
      },
      [](void* m, std::size_t i, EnumNames of_enum) { return value_of(as<Member>(m)[i], of_enum); },
      with_new_value<T>};
  return {ListValue{&member, names, &kFunctions}};
}

template <class T>
Value value_of(std::map<std::string, T>& member, EnumNames names) {
  using Member = std::map<std::string, T>;
  static constexpr MapValue::Functions kFunctions{
      [](void* m, EnumNames of_enum, const OnEntry& call) {
        for (auto& [key, value] : as<Member>(m)) call(key, value_of(value, of_enum));
      },
      [](void* m) { as<Member>(m).clear(); },
      [](void* m, const std::string& key, EnumNames of_enum) {
        return value_of(as<Member>(m)[key], of_enum);
      },
      with_new_value<T>};
  return {MapValue{&member, names, &kFunctions}};
}

template <class T>
Value value_of(std::optional<T>& member, EnumNames names) {
  using Member = std::optional<T>;
  static constexpr OptionalValue::Functions kFunctions{
      [](const void* m) { return as<Member>(m).has_value(); },
      [](void* m, bool present) {
        as<Member>(m).reset();
        if (present) as<Member>(m).emplace();
      },
      [](void* m, EnumNames of_enum) { return value_of(*as<Member>(m), of_enum); },
      with_new_value<T>};
  return {OptionalValue{&member, names, &kFunctions}};
}

}  // namespace detail
}  // namespace tiersim
