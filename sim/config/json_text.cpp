#include "sim/config/json_text.hpp"

#include <fmt/format.h>

namespace tiersim::detail {
namespace {

class JsonWriter {
 public:
  explicit JsonWriter(bool pretty) : pretty_(pretty) {}

  void write(const PlainTree& tree, std::size_t depth) {
    if (tree.kind == NodeKind::scalar) {
      out += tree.is_text ? json_string(tree.scalar) : tree.scalar;
    } else if (tree.kind == NodeKind::null) {
      out += "null";
    } else if (tree.kind == NodeKind::sequence) {
      write_all('[', tree.items, ']', depth,
                [&](const PlainTree& item) { write(item, depth + 1); });
    } else {
      write_all('{', tree.entries, '}', depth, [&](const auto& entry) {
        out += json_string(entry.first) + (pretty_ ? ": " : ":");
        write(entry.second, depth + 1);
      });
    }
  }

  std::string out;

 private:
  template <class Children, class WriteChild>
  void write_all(char open, const Children& children, char close, std::size_t depth,
                 const WriteChild& write_child) {
    out += open;
    bool first = true;
    for (const auto& child : children) {
      if (!first) out += ',';
      first = false;
      new_line(depth + 1);
      write_child(child);
    }
    if (!children.empty()) new_line(depth);
    out += close;
  }
  void new_line(std::size_t depth) {
    if (pretty_) out += '\n' + std::string(2 * depth, ' ');
  }

  bool pretty_;
};

}  // namespace

std::string to_json_line(const PlainTree& tree) {
  JsonWriter writer(false);
  writer.write(tree, 0);
  return std::move(writer.out);
}

std::string to_json_pretty(const PlainTree& tree) {
  JsonWriter writer(true);
  writer.write(tree, 0);
  return std::move(writer.out) + '\n';
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (code < 0x20 || code == 0x7F)
      out += fmt::format("\\u{:04x}", code);
    else
      out += c;
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace tiersim::detail
