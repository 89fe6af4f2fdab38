#include "sim/validate/sensitivity_numbers.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/config/in_base.hpp"
#include "sim/config/scalars.hpp"

namespace tiersim {
namespace {

template <class T>
inline constexpr bool kIsTiming =
    std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> || std::is_same_v<T, Bytes> ||
    std::is_same_v<T, Bandwidth> || std::is_same_v<T, Duration>;

bool is_timing(const detail::ScalarValue& scalar) {
  return std::visit([]<class T>(const T*) { return kIsTiming<T>; }, scalar);
}

double in_unit(const Number& number) {
  return std::visit([](auto value) { return detail::in_base(value); }, number);
}

class Walker final : public Fields {
 public:
  Walker(std::vector<DeviceNumber>& numbers, std::string& broken, std::string prefix)
      : numbers_(numbers), broken_(broken), prefix_(std::move(prefix)) {}

  void doc(std::string_view) override {}
  void importable(std::string_view, std::string_view, ImportCount) override {}
  void select(std::string_view, std::string& kind, const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override {
    if (std::ranges::find(alternatives, kind, &Alternative::name) != alternatives.end())
      describe_kind(kind, *this);
  }
  void check(bool ok, std::string_view path, std::string_view message, std::string_view) override {
    if (!ok && broken_.empty()) broken_ = fmt::format("{} {}", path, message);
  }

 protected:
  void field(const Field& field, const detail::Value& value) override {
    visit(field.limits, prefix_ + std::string(field.key), value, false);
  }

 private:
  void visit(const Limits& limits, const std::string& path, const detail::Value& value,
             bool listed) {
    const auto of_kind = [&]<class T>(const T& v) {
      if constexpr (std::is_same_v<T, detail::SourcedValue>) {
        if (is_timing(v.value)) numbers_.emplace_back(path, v.value, limits);
      } else if constexpr (std::is_same_v<T, detail::ScalarValue>) {
        if (!listed && !in_list_ && is_timing(v)) numbers_.emplace_back(path, v, limits);
      } else if constexpr (std::is_same_v<T, detail::StructValue>) {
        Walker below(numbers_, broken_, path + '.');
        below.in_list_ = listed || in_list_;
        v.describe(below);
      } else if constexpr (std::is_same_v<T, detail::ListValue>) {
        for (std::size_t i = 0; i < v.size(); ++i)
          this->visit(limits, fmt::format("{}.{}", path, i), v.at(i), true);
      } else if constexpr (std::is_same_v<T, detail::MapValue>) {
        v.for_each([&](const std::string& key, const detail::Value& entry) {
          this->visit(limits, fmt::format("{}.{}", path, key), entry, listed);
        });
      } else if constexpr (std::is_same_v<T, detail::OptionalValue>) {
        if (v.has()) this->visit(limits, path, v.get(), listed);
      }
    };
    std::visit(of_kind, value.kind);
  }

  std::vector<DeviceNumber>& numbers_;
  std::string& broken_;
  std::string prefix_;
  bool in_list_ = false;
};

}  // namespace

double DeviceNumber::value() const {
  return std::visit(
      []<class T>(const T* value) -> double {
        if constexpr (kIsTiming<T>) return detail::in_base(*value);
        return 0;
      },
      target_);
}

std::string DeviceNumber::text() const {
  return detail::format_scalar(target_);
}

void DeviceNumber::set(double value) {
  std::visit(
      [value]<class T>(T* target) {
        if constexpr (std::is_same_v<T, double>) {
          *target = value;
        } else if constexpr (kIsTiming<T>) {
          const auto whole = static_cast<std::int64_t>(std::llround(value));
          if constexpr (std::is_same_v<T, std::int64_t>)
            *target = whole;
          else if constexpr (std::is_same_v<T, Duration>)
            *target = Duration(whole);
          else
            *target = T::from_base(whole);
        }
      },
      target_);
}

bool DeviceNumber::is_whole() const {
  return !std::holds_alternative<double*>(target_);
}

bool DeviceNumber::is_granule() const {
  constexpr std::int64_t kLeast = 32;
  constexpr std::int64_t kMost = 4096;
  const auto* const* size = std::get_if<Bytes*>(&target_);
  if (size == nullptr) return false;
  const std::int64_t bytes = (*size)->in_base();
  return bytes >= kLeast && bytes <= kMost &&
         std::has_single_bit(static_cast<std::uint64_t>(bytes));
}

std::vector<double> DeviceNumber::near(double factor) const {
  const double now = value();
  const bool up = factor > 1;
  std::vector<double> out;
  const auto offer = [&](double candidate) {
    if (limits_.high) candidate = std::min(candidate, in_unit(*limits_.high));
    if (limits_.low && candidate < in_unit(*limits_.low)) candidate = in_unit(*limits_.low);
    if (limits_.low && limits_.low_open && candidate == in_unit(*limits_.low)) return;
    if (up ? candidate > now : candidate < now) out.push_back(candidate);
  };
  if (!limits_.allowed.empty()) {
    for (const std::string& word : limits_.allowed) {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error == std::errc{}) offer(static_cast<double>(number));
    }
    std::ranges::sort(out, {}, [now](double candidate) { return std::abs(candidate - now); });
    return out;
  }
  double stepped = factor * now;
  if (is_whole()) {
    stepped = std::round(stepped);
    stepped = up ? std::max(stepped, now + 1) : std::min(stepped, now - 1);
  }
  if (now != 0 && !is_granule()) offer(stepped);
  if (now != 0 && is_whole() && (up || std::fmod(now, 2) == 0)) offer(up ? 2 * now : now / 2);
  return out;
}

std::vector<DeviceNumber> numbers_below(const detail::StructValue& config,
                                        const std::string& prefix) {
  std::vector<DeviceNumber> all;
  std::string broken;
  Walker walker(all, broken, "");
  config.describe(walker);
  std::erase_if(all, [&](const DeviceNumber& n) { return !n.path().starts_with(prefix); });
  return all;
}

std::string broken_check_of(const detail::StructValue& config) {
  std::vector<DeviceNumber> all;
  std::string broken;
  Walker walker(all, broken, "");
  config.describe(walker);
  return broken;
}

}  // namespace tiersim
