// Finds the settings that are counts, by the type of the member that a describe() function names.
#include <algorithm>
#include <charconv>
#include <utility>

#include "sim/config/describe.hpp"

namespace tiersim::detail {
namespace {

// "a.b.c" as "a" and "b.c".
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

bool is_count(const Value& value, std::string_view path);

class CountFinder final : public Fields {
 public:
  explicit CountFinder(std::string_view path)
      : key_(split(path).first), rest_(split(path).second) {}

  bool found() const { return found_; }

  void doc(std::string_view) override {}
  void importable(std::string_view, std::string_view, ImportCount) override {}
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  void select(std::string_view, std::string& kind, const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override {
    if (std::ranges::find(alternatives, kind, &Alternative::name) != alternatives.end())
      describe_kind(kind, *this);
  }

 protected:
  void field(const Field& field, const Value& value) override {
    if (field.key == key_) found_ = is_count(value, rest_);
  }

 private:
  std::string_view key_;
  std::string_view rest_;
  bool found_ = false;
};

bool is_count(const ListValue& list, std::string_view path) {
  const auto [key, rest] = split(path);
  std::size_t index = 0;
  const char* end = key.data() + key.size();
  const auto [at, error] = std::from_chars(key.data(), end, index);
  return error == std::errc{} && at == end && index < list.size() && is_count(list.at(index), rest);
}

bool is_count(const MapValue& map, std::string_view path) {
  const auto [wanted, rest] = split(path);
  bool found = false;
  map.for_each([&, wanted = wanted, rest = rest](const std::string& key, const Value& entry) {
    if (key == wanted) found = is_count(entry, rest);
  });
  return found;
}

bool is_count(const OptionalValue& optional, std::string_view path) {
  if (optional.has()) return is_count(optional.get(), path);
  bool found = false;
  optional.with_new([&](const Value& value) { found = is_count(value, path); });
  return found;
}

bool is_count(const Value& value, std::string_view path) {
  const auto of_kind = [&]<class T>(const T& v) {
    if constexpr (std::is_same_v<T, ScalarValue>) {
      return path.empty() && std::holds_alternative<std::int64_t*>(v);
    } else if constexpr (std::is_same_v<T, SourcedValue>) {
      return (path.empty() || path == "value") && std::holds_alternative<std::int64_t*>(v.value);
    } else if constexpr (std::is_same_v<T, StructValue>) {
      return takes_whole_numbers(v, path);
    } else if constexpr (std::is_same_v<T, EnumValue>) {
      return false;
    } else {
      return is_count(v, path);
    }
  };
  return std::visit(of_kind, value.kind);
}

}  // namespace

bool takes_whole_numbers(const StructValue& config, std::string_view path) {
  CountFinder finder(path);
  config.describe(finder);
  return finder.found();
}

}  // namespace tiersim::detail
