#include "sim/config/json_text.hpp"

#include <fmt/format.h>

namespace tiersim::detail {
namespace {

void write_line(const PlainTree& tree, std::string& out) {
  const auto write_all = [&](char open, const auto& children, char close, const auto& write_child) {
    out += open;
    bool first = true;
    for (const auto& child : children) {
      if (!first) out += ',';
      first = false;
      write_child(child);
    }
    out += close;
  };
  if (tree.kind == NodeKind::scalar) {
    if (tree.is_text)
      append_json_string(out, tree.scalar);
    else
      out += tree.scalar;
  } else if (tree.kind == NodeKind::null) {
    out += "null";
  } else if (tree.kind == NodeKind::sequence) {
    write_all('[', tree.items, ']', [&](const PlainTree& item) { write_line(item, out); });
  } else {
    write_all('{', tree.entries, '}', [&](const auto& entry) {
      append_json_string(out, entry.first);
      out += ':';
      write_line(entry.second, out);
    });
  }
}

}  // namespace

std::string to_json_line(const PlainTree& tree) {
  std::string out;
  write_line(tree, out);
  return out;
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
