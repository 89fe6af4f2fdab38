#include "kernels/campaign/json.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace tiersim::kernels::bench {
namespace {

void write_text(std::string& out, const std::string& text) {
  static constexpr std::array<char, 16> kDigits = {'0', '1', '2', '3', '4', '5', '6', '7',
                                                   '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20) {
      ((out += "\\u00") += kDigits[byte >> 4U]) += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

template <class T>
std::string shortest(T value) {
  std::array<char, 40> buffer = {};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

void new_line(std::string& out, int depth) {
  out += '\n';
  out.append(static_cast<std::size_t>(depth) * 2, ' ');
}

}  // namespace

// Which values have a line for each of their members: those above a level, or those that are too
// long for one.
struct Json::Lines {
  int levels = 0;
  std::size_t columns = 0;  // 0: any length

  bool apply(const Json& value, const std::string& out, int depth) const {
    if (columns == 0) return levels > depth;
    const std::size_t begin = out.rfind('\n') + 1;               // of this line
    return out.size() - begin + value.dump().size() >= columns;  // a comma comes after it
  }
};

double Json::number() const {
  if (is_integer()) return static_cast<double>(integer());
  return get<double>("a number");
}

const Json* Json::find(std::string_view name) const {
  for (const auto& [key, value] : object()) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Json& Json::at(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) throw JsonError("no member '" + std::string(name) + "'");
  return *value;
}

Json& Json::set(std::string_view name, Json value) {
  if (is_null()) value_ = Object();
  auto& members = std::get<Object>(value_);
  for (auto& [key, old] : members) {
    if (key == name) {
      old = std::move(value);
      return *this;
    }
  }
  members.emplace_back(std::string(name), std::move(value));
  return *this;
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  std::get<Array>(value_).push_back(std::move(value));
}

std::string Json::dump(int levels) const {
  std::string out;
  write(out, {.levels = levels}, 0);
  return out;
}

std::string Json::pretty(std::size_t columns) const {
  std::string out;
  write(out, {.columns = columns}, 0);
  return out + '\n';
}

void Json::write(std::string& out, const Lines& all_lines, int depth) const {
  const bool lines = all_lines.apply(*this, out, depth);
  const auto separate = [&](bool first) {
    if (!first) out += ',';
    if (lines) {
      new_line(out, depth + 1);
    } else if (!first) {
      out += ' ';
    }
  };
  if (is_null()) {
    out += "null";
  } else if (is_bool()) {
    out += boolean() ? "true" : "false";
  } else if (is_integer()) {
    out += shortest(integer());
  } else if (is_number()) {
    const double value = number();
    if (!std::isfinite(value)) throw JsonError("a number that is not finite cannot be written");
    const std::string digits = shortest(value);
    out += digits;
    if (digits.find_first_of(".e") == std::string::npos) out += ".0";
  } else if (is_string()) {
    write_text(out, text());
  } else if (is_array()) {
    out += '[';
    bool first = true;
    for (const Json& value : array()) {
      separate(first);
      first = false;
      value.write(out, all_lines, depth + 1);
    }
    if (lines && !first) new_line(out, depth);
    out += ']';
  } else {
    out += '{';
    bool first = true;
    for (const auto& [name, value] : object()) {
      separate(first);
      first = false;
      write_text(out, name);
      out += ": ";
      value.write(out, all_lines, depth + 1);
    }
    if (lines && !first) new_line(out, depth);
    out += '}';
  }
}

}  // namespace tiersim::kernels::bench
