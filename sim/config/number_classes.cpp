#include "sim/config/number_classes.hpp"

#include <algorithm>

namespace tiersim::detail {
namespace {

class ClassLister final : public Fields {
 public:
  explicit ClassLister(std::vector<ClassedNumber>& out) : out_(out) {}

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
      out_.push_back({path_, *sourced->number_class});
    } else if (const auto* structure = std::get_if<StructValue>(&value.kind)) {
      structure->describe(*this);
    } else if (const auto* items = std::get_if<ListValue>(&value.kind)) {
      for (std::size_t i = 0; i < items->size(); ++i) list(std::to_string(i), items->at(i));
    } else if (const auto* map = std::get_if<MapValue>(&value.kind)) {
      for (const std::string& key : map->keys()) list(key, map->at(key));
    } else if (const auto* optional = std::get_if<OptionalValue>(&value.kind)) {
      if (optional->has()) visit(optional->get());
    }
  }

  std::vector<ClassedNumber>& out_;
  std::string path_;
};

}  // namespace

std::vector<ClassedNumber> number_classes(const StructValue& config) {
  std::vector<ClassedNumber> out;
  ClassLister lister(out);
  config.describe(lister);
  return out;
}

}  // namespace tiersim::detail
