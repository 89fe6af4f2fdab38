#include "sim/config/json_layout.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tiersim {
namespace {

// Lays out one line of JSON. An object or list is known by its place among all, in the order in
// which they begin.
class JsonLayout {
 public:
  JsonLayout(std::string_view line, std::size_t columns) : line_(line), columns_(columns) {
    measure();
  }

  std::string take() {
    value(0, 0);
    return std::move(out_) + '\n';
  }

 private:
  struct Container {
    std::size_t width = 0;   // on one line
    std::size_t inside = 0;  // objects and lists, at any depth
    std::size_t end = 0;     // just after its bracket
  };

  // Just after the text, number or word that begins at `at`.
  std::size_t end_of_plain(std::size_t at) const {
    if (line_[at] != '"') return std::min(line_.find_first_of(",]}", at), line_.size());
    for (++at; line_[at] != '"'; ++at)
      if (line_[at] == '\\') ++at;
    return at + 1;
  }

  // Bytes that continue a character are no column.
  static std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  }

  void measure() {
    std::vector<std::size_t> open;
    std::size_t width = 0;
    for (std::size_t at = 0; at < line_.size();) {
      const char c = line_[at];
      if (c == '{' || c == '[') {
        open.push_back(containers_.size());
        containers_.push_back({.width = width++});
      } else if (c == '}' || c == ']') {
        Container& closed = containers_[open.back()];
        closed.width = ++width - closed.width;
        closed.inside = containers_.size() - open.back() - 1;
        closed.end = at + 1;
        open.pop_back();
      } else if (c == ',' || c == ':') {
        width += 2;
      } else {
        const std::size_t end = end_of_plain(at);
        width += columns_of(line_.substr(at, end - at));
        at = end;
        continue;
      }
      ++at;
    }
  }

  void new_line(std::size_t depth) {
    out_ += '\n';
    out_.append(2 * depth, ' ');
  }

  // From at_ on up to `end`, on one line.
  void flat(std::size_t end) {
    while (at_ < end) {
      const char c = line_[at_];
      const bool is_plain = std::string_view("{}[],:").find(c) == std::string_view::npos;
      const std::size_t next = is_plain ? end_of_plain(at_) : at_ + 1;
      out_ += line_.substr(at_, next - at_);
      if (c == ',' || c == ':') out_ += ' ';
      at_ = next;
    }
  }

  // Whatever stands at at_; `column` of the line are taken by what stands before it.
  void value(std::size_t depth, std::size_t column) {
    const char open = line_[at_];
    if (open != '{' && open != '[') return flat(end_of_plain(at_));
    const Container& whole = containers_[next_++];
    if (column + whole.width < columns_) {  // with a comma after it
      next_ += whole.inside;
      return flat(whole.end);
    }
    out_ += open;
    ++at_;
    entries(whole, depth + 1);
    new_line(depth);
    flat(whole.end);  // the bracket
  }

  // Texts, numbers and words fill lines. An object or list begins one of its own.
  void entries(const Container& whole, std::size_t depth) {
    for (std::size_t column = columns_; at_ + 1 < whole.end;) {
      const std::size_t key = end_of_key();
      if (line_[key] == '{' || line_[key] == '[') {
        new_line(depth);
        const std::size_t begin = out_.size();
        flat(key);
        value(depth, 2 * depth + columns_of(std::string_view(out_).substr(begin)));
        comma();
        column = columns_;
        continue;
      }
      const std::size_t end = end_of_plain(key);
      const std::size_t width =
          columns_of(line_.substr(at_, end - at_)) + (key == at_ ? 1 : 2);  // a comma, a space
      if (column + 1 + width > columns_) {
        new_line(depth);
        column = 2 * depth;
      } else {
        out_ += ' ';
        ++column;
      }
      flat(end);
      comma();
      column += width;
    }
  }

  // The end of the key and colon that begin at at_. The result is at_ where no key begins there, as
  // in a list.
  std::size_t end_of_key() const {
    if (line_[at_] != '"') return at_;
    const std::size_t end = end_of_plain(at_);
    return line_[end] == ':' ? end + 1 : at_;
  }

  void comma() {
    if (line_[at_] != ',') return;
    out_ += ',';
    ++at_;
  }

  std::string_view line_;
  std::size_t columns_;
  std::vector<Container> containers_;
  std::size_t at_ = 0;    // in line_
  std::size_t next_ = 0;  // in containers_
  std::string out_;
};

}  // namespace

std::string pretty_json(std::string_view line, std::size_t columns) {
  return JsonLayout(line, columns).take();
}

}  // namespace tiersim
