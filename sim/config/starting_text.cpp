#include "sim/config/starting_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/config/dump.hpp"
#include "sim/config/scalars.hpp"
#include "sim/config/yaml_scalar.hpp"

namespace tiersim::detail {
namespace {

constexpr std::size_t kWidth = 100;
// Optional mappings that the example leaves out are shown with their keys down to this depth.
constexpr std::size_t kShownDepth = 2;

// The file that a mapping was made from, as `base:` names it; empty where none.
std::string base_of(const Node& node, const std::filesystem::path& root) {
  if (node.schemas.empty()) return "";
  const std::filesystem::path file = node.schemas.back().origin.location().file;
  const auto below = file.lexically_normal().lexically_relative(root.lexically_normal());
  return (below.empty() || *below.begin() == ".." ? file : below).generic_string();
}

// What the example says, on one line; mappings of files by the names of the files.
std::string flow_of(const Node& node, const std::filesystem::path& root) {
  if (const std::string base = base_of(node, root); !base.empty())
    return fmt::format("{{base: {}}}", yaml_scalar(base));
  if (node.kind == NodeKind::scalar) return node.quoted ? yaml_scalar(node.scalar) : node.scalar;
  std::string out;
  for (const Node& item : node.items) out += (out.empty() ? "" : ", ") + flow_of(item, root);
  for (const Entry& entry : node.entries)
    out += (out.empty() ? "" : ", ") + yaml_scalar(entry.key) + ": " + flow_of(entry.value, root);
  return node.kind == NodeKind::sequence ? '[' + out + ']' : '{' + out + '}';
}

const ScalarValue* scalar_of(const Value& value) {
  if (const auto* sourced = std::get_if<SourcedValue>(&value.kind)) return &sourced->value;
  return std::get_if<ScalarValue>(&value.kind);
}

std::string names_of(const EnumValue& choice) {
  std::string names;
  for (const std::string_view name : choice.names)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

// "<a size>": what stands for a value that has no default.
std::string placeholder(const Value& value) {
  if (const ScalarValue* scalar = scalar_of(value)) return fmt::format("<{}>", noun(*scalar));
  if (std::holds_alternative<EnumValue>(value.kind)) return "<one of these>";
  return std::holds_alternative<ListValue>(value.kind) ? "[]" : "{}";
}

// The default of a value on one line.
std::string default_of(const Value& value) {
  const PlainTree preset = dump_value(value, Sources::kept);
  const auto scalar = [](const PlainTree& tree) {
    return tree.is_text ? yaml_scalar(tree.scalar) : tree.scalar;
  };
  if (preset.kind == NodeKind::scalar) return scalar(preset);
  if (preset.is_sourced) return scalar(*preset.find("value"));
  std::string items;
  for (const PlainTree& item : preset.items) {
    if (item.kind != NodeKind::scalar) return placeholder(value);
    items += (items.empty() ? "" : ", ") + scalar(item);
  }
  return items.empty() ? placeholder(value) : '[' + items + ']';
}

// Lines of at most kWidth, each a comment.
void write_comment(std::string& out, std::size_t indent, const std::string& text) {
  const std::string begin = std::string(indent, ' ') + "#";
  std::string line = begin;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (line.size() > begin.size() && line.size() + 1 + end - at > kWidth) {
      out += line + '\n';
      line = begin;
    }
    line += ' ' + text.substr(at, end - at);
    at = end + 1;
  }
  out += line + '\n';
}

class StartingWriter final : public Fields {
 public:
  StartingWriter(const Node* node, const StartingText& text, std::size_t depth)
      : node_(node), text_(text), indent_(2 * depth) {}

  /// The file's own words about this mapping stand before it.
  std::string about;
  std::string out;

  void doc(std::string_view text) override { about = text; }
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  void importable(std::string_view key, std::string_view help, ImportCount) override {
    write_comment(out, indent_, std::string(help) + " Optional.");
    write_default(key, "NAME");
  }
  void select(std::string_view key, std::string& kind, const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override {
    std::string all = "One of:";
    bool known = false;
    for (const Alternative& alternative : alternatives) {
      all += fmt::format("{} {} ({})", all.back() == ':' ? "" : ",", alternative.name,
                         alternative.help);
      known = known || alternative.name == kind;
    }
    write_comment(out, indent_, all + ".");
    if (known && node_ != nullptr && node_->find(key) != nullptr)
      write(key, yaml_scalar(kind));
    else
      write_default(key, known ? yaml_scalar(kind) : "KIND");
    if (known) describe_kind(kind, *this);
  }

 protected:
  void field(const Field& field, const Value& value) override {
    const Entry* entry = node_ == nullptr ? nullptr : node_->find(field.key);
    write_comment(out, indent_, explanation(field, value));
    if (entry == nullptr)
      write_unset(field.key, value, field.required);
    else
      write_set(field.key, entry->value, value);
  }

 private:
  // The units or names of a value, as sentences.
  static std::string choices(const Value& value) {
    std::string text;
    if (const auto* optional = std::get_if<OptionalValue>(&value.kind))
      optional->with_new([&](const Value& inner) { text = choices(inner); });
    if (const auto* names = std::get_if<EnumValue>(&value.kind))
      text = " One of: " + names_of(*names) + ".";
    const ScalarValue* scalar = scalar_of(value);
    if (scalar != nullptr && !units(*scalar).empty()) text = " In " + units(*scalar) + ".";
    return text;
  }

  static std::string explanation(const Field& field, const Value& value) {
    std::string text = std::string(field.help) + choices(value);
    if (field.limits.any()) text += " Allowed: " + field.limits.text() + ".";
    if (!field.document_kind.empty())
      text += fmt::format(" Its base is a file of schema tiersim.{}/v1.", field.document_kind);
    return text + (field.required ? " Required." : " Optional.");
  }

  void write(std::string_view key, const std::string& value) {
    out += fmt::format("{}{}: {}\n", std::string(indent_, ' '), key, value);
  }
  // One mark and no space, so that taking it away leaves a line of YAML.
  void write_default(std::string_view key, const std::string& value) {
    out += fmt::format("{}#{}: {}\n", std::string(indent_, ' '), key, value);
  }

  void write_set(std::string_view key, const Node& node, const Value& value) {
    if (const auto* optional = std::get_if<OptionalValue>(&value.kind); optional && optional->has())
      return write_set(key, node, optional->get());
    const bool is_file = !base_of(node, text_.config_root).empty();
    const auto* config = std::get_if<StructValue>(&value.kind);
    if (config != nullptr && !is_file && node.kind == NodeKind::mapping)
      return write_below(key, &node, *config);
    const std::string flow = flow_of(node, text_.config_root);
    const bool fits = indent_ + key.size() + 2 + flow.size() <= kWidth;
    const bool is_sourced = std::holds_alternative<SourcedValue>(value.kind);
    if (fits || is_file || is_sourced || (node.items.empty() && node.entries.empty()))
      return write(key, flow);
    out += fmt::format("{}{}:\n", std::string(indent_, ' '), key);
    const std::string indent(indent_ + 2, ' ');
    for (const Node& item : node.items)
      out += indent + "- " + flow_of(item, text_.config_root) + '\n';
    for (const Entry& entry : node.entries)
      out +=
          indent + yaml_scalar(entry.key) + ": " + flow_of(entry.value, text_.config_root) + '\n';
  }

  void write_below(std::string_view key, const Node* node, const StructValue& config) {
    StartingWriter writer(node, text_, indent_ / 2 + 1);
    config.describe(writer);
    out += fmt::format("{}{}:\n{}", std::string(indent_, ' '), key, writer.out);
  }

  void write_unset(std::string_view key, const Value& value, bool required) {
    if (const auto* optional = std::get_if<OptionalValue>(&value.kind)) {
      optional->with_new([&](const Value& inner) {
        if (std::holds_alternative<StructValue>(inner.kind))
          write_unset(key, inner, false);
        else
          write_default(key, placeholder(inner));
      });
    } else if (const auto* config = std::get_if<StructValue>(&value.kind)) {
      write_unset_mapping(key, *config);
    } else {
      write_default(key, required ? placeholder(value) : default_of(value));
    }
  }

  void write_unset_mapping(std::string_view key, const StructValue& config) {
    if (indent_ / 2 + 1 >= kShownDepth) return write_default(key, "{}");
    StartingWriter writer(nullptr, text_, indent_ / 2 + 1);
    config.describe(writer);
    out += fmt::format("{}#{}:\n{}", std::string(indent_, ' '), key, writer.out);
  }

  const Node* node_;
  const StartingText& text_;
  std::size_t indent_;
};

}  // namespace

std::string starting_text(const Document& example, const StructValue& config,
                          const StartingText& text) {
  const Node& root = example.root();
  StartingWriter writer(&root, text, 0);
  config.describe(writer);
  std::string out = text.head;
  if (!writer.about.empty()) write_comment(out, 0, writer.about);
  write_comment(out, 0,
                "A key with a mark before it (#key: value) is left out; its value is the default.");
  if (!root.schemas.empty())
    out += fmt::format("schema: tiersim.{}/v1\n", root.schemas.back().kind);
  return out + writer.out;
}

}  // namespace tiersim::detail
