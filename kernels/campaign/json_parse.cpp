// The strict reader of kernels/campaign/json.hpp.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "kernels/campaign/json.hpp"

namespace tiersim::kernels::bench {
namespace {

constexpr int kDeepest = 100;  // levels of nesting; our files have 7

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Json document() {
    Json value = read_value(0);
    skip_space();
    if (at_ != text_.size()) fail("text after the value");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column = at_ - (start == std::string_view::npos ? 0 : start + 1) + 1;
    throw JsonError(std::to_string(line) + ":" + std::to_string(column) + ": " + problem);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos) {
      ++at_;
    }
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json read_value(int depth) {
    if (depth > kDeepest) fail("nested too deeply");
    skip_space();
    switch (peek()) {
      case '{':
        return read_object(depth);
      case '[':
        return read_array(depth);
      case '"':
        return read_text();
      default:
        break;
    }
    if (take_word("true")) return true;
    if (take_word("false")) return false;
    if (take_word("null")) return {};
    return read_number();
  }

  Json read_object(int depth) {
    Json::Object members;
    expect('{');
    skip_space();
    if (take('}')) return members;
    do {
      skip_space();
      std::string name = read_text();
      for (const auto& member : members) {
        if (member.first == name) fail("'" + name + "' stands twice");
      }
      skip_space();
      expect(':');
      Json value = read_value(depth + 1);
      members.emplace_back(std::move(name), std::move(value));
      skip_space();
    } while (take(','));
    expect('}');
    return members;
  }

  Json read_array(int depth) {
    Json::Array values;
    expect('[');
    skip_space();
    if (take(']')) return values;
    do {
      values.push_back(read_value(depth + 1));
      skip_space();
    } while (take(','));
    expect(']');
    return values;
  }

  std::string read_text() {
    std::string out;
    expect('"');
    while (!take('"')) {
      if (at_ == text_.size()) fail("a string without its end");
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string");
      if (c == '\\') {
        read_escape(out);
      } else {
        out += c;
      }
    }
    return out;
  }

  void read_escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char c = peek();
    const std::size_t letter = kLetters.find(c);
    if (c != '\0' && letter != std::string_view::npos) {
      ++at_;
      out += kMeanings[letter];
      return;
    }
    if (!take('u')) fail("an unknown escape");
    unsigned code = 0;
    const char* begin = text_.data() + at_;
    const std::size_t length = std::min<std::size_t>(4, text_.size() - at_);
    const auto end = std::from_chars(begin, begin + length, code, 16).ptr;
    if (end != begin + 4) fail("\\u wants four hexadecimal digits");
    if (code >= 0x80) fail("\\u above 7f: write UTF-8");  // the writer never makes such an escape
    at_ += 4;
    out += static_cast<char>(code);
  }

  Json read_number() {
    const std::size_t start = at_;
    take('-');
    const std::size_t first = at_;
    read_digits();
    if (at_ > first + 1 && text_[first] == '0') fail("a number with a leading zero");
    bool integer = true;
    if (take('.')) {
      integer = false;
      read_digits();
    }
    if (take('e') || take('E')) {
      integer = false;
      if (!take('+')) take('-');
      read_digits();
    }
    const char* begin = text_.data() + start;
    const char* end = text_.data() + at_;
    std::int64_t whole = 0;
    if (integer && std::from_chars(begin, end, whole).ec == std::errc{}) return whole;
    double value = 0;
    if (std::from_chars(begin, end, value).ec != std::errc{}) fail("a number out of range");
    return value;
  }

  void read_digits() {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    if (at_ == start) fail("expected a value");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Json Json::parse(std::string_view text) {
  return Reader(text).document();
}

}  // namespace tiersim::kernels::bench
