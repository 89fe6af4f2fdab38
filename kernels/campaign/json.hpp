// A JSON value with its writer and strict reader. The campaign runs on machines that have no
// library but CUDA's, so it has its own. Numbers keep 17 digits and members keep their order.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tiersim::kernels::bench {

// Text that is not JSON, or a value of the wrong kind.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(bool value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(std::int64_t value) : value_(value) {}
  Json(double value) : value_(value) {}  // JsonError where not finite, which JSON cannot state
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(Array values) : value_(std::move(values)) {}
  Json(Object members) : value_(std::move(members)) {}

  // Throws JsonError "line:column: problem" for text against RFC 8259, for a duplicate member, and
  // for more than 100 levels.
  static Json parse(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  bool boolean() const { return get<bool>("a truth value"); }
  std::int64_t integer() const { return get<std::int64_t>("an integer"); }
  double number() const;
  const std::string& text() const { return get<std::string>("a string"); }
  const Array& array() const { return get<Array>("an array"); }
  const Object& object() const { return get<Object>("an object"); }

  // The member of an object, or null.
  const Json* find(std::string_view name) const;
  const Json& at(std::string_view name) const;  // JsonError where it is absent
  Json& at(std::string_view name) {
    return const_cast<Json&>(static_cast<const Json&>(*this).at(name));
  }
  // Sets a member of an object; a null value becomes an object.
  Json& set(std::string_view name, Json value);
  void push_back(Json value);  // to an array; a null value becomes an array

  // On one line, or with `levels` levels of line breaks and deeper values on one line each.
  std::string dump(int levels = 0) const;
  // A value that fits into the columns in one line, any other in one line for each member; with a
  // newline.
  std::string pretty(std::size_t columns) const;

 private:
  template <class T>
  const T& get(const char* kind) const {
    const T* value = std::get_if<T>(&value_);
    if (value == nullptr) throw JsonError(std::string("expected ") + kind);
    return *value;
  }
  struct Lines;
  void write(std::string& out, const Lines& lines, int depth) const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

}  // namespace tiersim::kernels::bench
