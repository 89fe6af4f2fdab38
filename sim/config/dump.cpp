#include "sim/config/dump.hpp"

#include <algorithm>
#include <utility>

#include "sim/config/scalars.hpp"

namespace tiersim::detail {
namespace {

class Dumper final : public Fields {
 public:
  explicit Dumper(Sources sources) : sources_(sources) {}

  PlainTree take() { return std::move(tree_); }

  void doc(std::string_view) override {}
  void importable(std::string_view, std::string_view, ImportCount) override {}
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  void select(std::string_view key, std::string& kind, const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override {
    tree_.add(key, PlainTree::text(kind));
    if (std::ranges::find(alternatives, kind, &Alternative::name) == alternatives.end()) return;
    describe_kind(kind, *this);
  }

 protected:
  void field(const Field& field, const Value& value) override {
    PlainTree dumped = dump_value(value, sources_);
    if (dumped.kind != NodeKind::null) tree_.add(field.key, std::move(dumped));
  }

 private:
  Sources sources_;
  PlainTree tree_;
};

PlainTree dump_scalar(const ScalarValue& value) {
  const std::string text = format_scalar(value);
  return is_text(value) ? PlainTree::text(text) : PlainTree::bare(text);
}

PlainTree dump_sourced(const SourcedValue& value, Sources sources) {
  PlainTree tree{.is_sourced = true};
  tree.add("value", dump_scalar(value.value));
  tree.add("class", PlainTree::text(name(*value.number_class)));
  if (value.ci95.has()) {
    PlainTree& ends = tree.add("ci95", PlainTree::list());
    ends.items = {dump_scalar(value.ci95.low()), dump_scalar(value.ci95.high())};
  }
  if (sources == Sources::kept) tree.add("source", PlainTree::text(*value.source));
  return tree;
}

}  // namespace

PlainTree dump_value(const Value& value, Sources sources) {
  return std::visit(
      [&]<class T>(const T& v) -> PlainTree {
        PlainTree tree;
        if constexpr (std::is_same_v<T, ScalarValue>) {
          return dump_scalar(v);
        } else if constexpr (std::is_same_v<T, EnumValue>) {
          return PlainTree::text(v.names[v.get()]);
        } else if constexpr (std::is_same_v<T, SourcedValue>) {
          return dump_sourced(v, sources);
        } else if constexpr (std::is_same_v<T, StructValue>) {
          return dump(v, sources);
        } else if constexpr (std::is_same_v<T, ListValue>) {
          tree.kind = NodeKind::sequence;
          for (std::size_t i = 0; i < v.size(); ++i)
            tree.items.push_back(dump_value(v.at(i), sources));
        } else if constexpr (std::is_same_v<T, MapValue>) {
          v.for_each([&](const std::string& key, const Value& entry) {
            tree.add(key, dump_value(entry, sources));
          });
        } else {
          if (v.has()) return dump_value(v.get(), sources);
          tree.kind = NodeKind::null;
        }
        return tree;
      },
      value.kind);
}

PlainTree dump(const StructValue& config, Sources sources) {
  Dumper dumper(sources);
  config.describe(dumper);
  return dumper.take();
}

}  // namespace tiersim::detail
