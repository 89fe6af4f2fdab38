#include "sim/config/number_classes.hpp"

#include <algorithm>
#include <utility>

#include "sim/config/scalars.hpp"

namespace tiersim::detail {
namespace {

// Calls on_number(path, number) for each number with a source, in the order of describe().
template <class OnNumber>
class NumberVisitor final : public Fields {
 public:
  explicit NumberVisitor(OnNumber on_number) : on_number_(std::move(on_number)) {}

  void doc(std::string_view) override {}
  void importable(std::string_view, std::string_view, ImportCount) override {}
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  bool only_sourced() const override { return true; }
  void select(std::string_view /*key*/, std::string& kind,
              const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override {
    if (std::ranges::find(alternatives, kind, &Alternative::name) != alternatives.end())
      describe_kind(kind, *this);
  }

 protected:
  void field(const Field& field, const Value& value) override { list(field.key, value); }

 private:
  void list(std::string_view key, const Value& value) {
    if (std::holds_alternative<ScalarValue>(value.kind) ||
        std::holds_alternative<EnumValue>(value.kind))
      return;
    const std::size_t before = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += key;
    visit(value);
    path_.resize(before);
  }
  void visit(const Value& value) {
    if (const auto* sourced = std::get_if<SourcedValue>(&value.kind)) {
      on_number_(path_, *sourced);
    } else if (const auto* structure = std::get_if<StructValue>(&value.kind)) {
      structure->describe(*this);
    } else if (const auto* items = std::get_if<ListValue>(&value.kind)) {
      for (std::size_t i = 0; i < items->size(); ++i) list(std::to_string(i), items->at(i));
    } else if (const auto* map = std::get_if<MapValue>(&value.kind)) {
      map->for_each([this](const std::string& key, const Value& entry) { list(key, entry); });
    } else if (const auto* optional = std::get_if<OptionalValue>(&value.kind)) {
      if (optional->has()) visit(optional->get());
    }
  }

  OnNumber on_number_;
  std::string path_;
};

}  // namespace

std::vector<ClassedNumber> number_classes(const StructValue& config) {
  std::vector<ClassedNumber> out;
  NumberVisitor visitor([&](const std::string& path, const SourcedValue& number) {
    out.push_back({path, *number.number_class});
  });
  config.describe(visitor);
  return out;
}

std::vector<SourcedNumber> numbers(const StructValue& config) {
  std::vector<SourcedNumber> out;
  NumberVisitor visitor([&](const std::string& path, const SourcedValue& number) {
    out.push_back({path, format_scalar(number.value), *number.number_class, *number.source});
    if (number.ci95.has())
      out.back().ci95 = {format_scalar(number.ci95.low()), format_scalar(number.ci95.high())};
  });
  config.describe(visitor);
  return out;
}

}  // namespace tiersim::detail
