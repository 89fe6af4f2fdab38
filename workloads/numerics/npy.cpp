#include "workloads/numerics/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim::numerics {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

template <class... Values>
Unexpected<NpyProblem> problem(std::size_t offset, fmt::format_string<Values...> text,
                               Values&&... values) {
  return Unexpected(NpyProblem{offset, fmt::format(text, std::forward<Values>(values)...)});
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t out = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    out = out << 8U | static_cast<unsigned char>(bytes[i - 1]);
  return out;
}

// Contents of the header.
struct Header {
  std::size_t item = 0;  // bytes of an element
  std::vector<std::int64_t> shape;
  std::size_t data = 0;  // offset of the first element
};

// Parser of the header's text: a Python dict with exactly the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view bytes, std::size_t begin, std::size_t end)
      : bytes_(bytes.substr(0, end)), at_(begin), end_(end) {}

  Expected<Header, NpyProblem> parse() {
    Header out{.item = 0, .shape = {}, .data = end_};
    std::optional<NpyProblem> wrong;
    bool ordered = false;
    bool shaped = false;
    if (!take('{')) return expected("'{'");
    while (!take('}')) {
      const std::size_t where = at_ + spaces();
      const std::optional<std::string> key = text();
      if (!key || !take(':')) return expected("a key in quotes, then ':'");
      if (*key == "descr" && out.item == 0)
        wrong = descr(out);
      else if (*key == "fortran_order" && !ordered)
        wrong = order(ordered);
      else if (*key == "shape" && !shaped)
        wrong = shape(out, shaped);
      else
        return problem(where, "key '{}' is none of descr, fortran_order, shape, or is there twice",
                       printable(*key));
      if (wrong) return Unexpected(std::move(*wrong));
      if (!take(',') && !peek('}')) return expected("',' or '}'");
    }
    if (at_ + spaces() != end_) return expected("nothing but spaces after '}'");
    if (out.item == 0 || !ordered || !shaped)
      return problem(at_, "the header lacks {}",
                     out.item == 0 ? "descr"
                     : !ordered    ? "fortran_order"
                                   : "shape");
    return out;
  }

 private:
  std::size_t spaces() const {
    std::size_t count = 0;
    while (at_ + count < end_ && (bytes_[at_ + count] == ' ' || bytes_[at_ + count] == '\n'))
      ++count;
    return count;
  }
  bool peek(char c) {
    at_ += spaces();
    return at_ < end_ && bytes_[at_] == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    at_ += spaces();
    if (!bytes_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  Unexpected<NpyProblem> expected(std::string_view what) const {
    return problem(at_ + spaces(), "expected {} in the header", what);
  }
  NpyProblem plain(std::size_t offset, std::string what) const { return {offset, std::move(what)}; }

  std::optional<std::string> text() {
    if (!peek('\'') && !peek('"')) return std::nullopt;
    const char quote = bytes_[at_];
    const std::size_t close = bytes_.find(quote, at_ + 1);
    if (close == std::string_view::npos) return std::nullopt;
    std::string out(bytes_.substr(at_ + 1, close - at_ - 1));
    at_ = close + 1;
    return out;
  }

  std::optional<NpyProblem> descr(Header& out) {
    const std::size_t where = at_ + spaces();
    const std::optional<std::string> type = text();
    if (type == "<f4") out.item = 4;
    if (type == "<f8") out.item = 8;
    if (out.item != 0) return std::nullopt;
    return plain(where, fmt::format("descr is {}, not '<f4' or '<f8' (float32, float64)",
                                    type ? "'" + printable(*type) + "'" : "no text"));
  }

  std::optional<NpyProblem> order(bool& seen) {
    const std::size_t where = at_ + spaces();
    if (take_word("True"))
      return plain(where,
                   "fortran_order is True: save a C-ordered copy "
                   "(numpy.ascontiguousarray)");
    seen = take_word("False");
    if (seen) return std::nullopt;
    return plain(where, "fortran_order is neither False nor True");
  }

  std::optional<NpyProblem> shape(Header& out, bool& seen) {
    if (!take('(')) return plain(at_, "expected '(' after shape");
    std::int64_t elements = 1;
    while (!take(')')) {
      const std::size_t where = at_ + spaces();
      std::int64_t size = 0;
      const char* begin = bytes_.data() + where;
      const auto [stop, error] = std::from_chars(begin, bytes_.data() + end_, size);
      if (error != std::errc() || size < 1)
        return plain(where, "a dimension is not a whole number of 1 or more");
      elements = size > kMostElements / elements ? kMostElements + 1 : elements * size;
      if (elements > kMostElements) return plain(where, "the shape has more than 2^40 elements");
      out.shape.push_back(size);
      at_ = where + static_cast<std::size_t>(stop - begin);
      if (!take(',') && !peek(')')) return plain(at_, "expected ',' or ')' in shape");
    }
    seen = true;
    return std::nullopt;
  }

  std::string_view bytes_;
  std::size_t at_;
  std::size_t end_;
};

Expected<Header, NpyProblem> read_header(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return problem(0, "not a .npy file: it does not begin with \\x93NUMPY");
  if (bytes.size() < kMagic.size() + 2) return problem(bytes.size(), "the file ends in its header");
  const int major = static_cast<unsigned char>(bytes[6]);
  const int minor = static_cast<unsigned char>(bytes[7]);
  if ((major != 1 && major != 2) || minor != 0)
    return problem(6, "version {}.{} of the format, not 1.0 or 2.0", major, minor);
  const std::size_t field = major == 1 ? 2 : 4;
  const std::size_t begin = 8 + field;
  if (bytes.size() < begin) return problem(bytes.size(), "the file ends in its header");
  const std::size_t length = little_endian(bytes.substr(8, field));
  if (length > bytes.size() - begin)
    return problem(8, "a header of {} bytes in a file of {}", length, bytes.size());
  return HeaderParser(bytes, begin, begin + length).parse();
}

template <class Float, class Bits>
double element(std::string_view bytes) {
  return static_cast<double>(std::bit_cast<Float>(static_cast<Bits>(little_endian(bytes))));
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

Expected<NpyArray, NpyProblem> read_npy(std::string_view bytes) {
  auto header = read_header(bytes);
  if (!header) return Unexpected(header.error());
  std::size_t count = 1;
  for (const std::int64_t size : header->shape) count *= static_cast<std::size_t>(size);
  const std::size_t item = header->item;
  const std::string_view data = bytes.substr(header->data);
  if (data.size() != count * item)
    return problem(header->data, "{} bytes of data, where shape {} of float{} has {}", data.size(),
                   shape_text(header->shape), 8 * item, count * item);
  NpyArray out{.shape = header->shape, .values = {}};
  out.values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view one = data.substr(i * item, item);
    const double value =
        item == 4 ? element<float, std::uint32_t>(one) : element<double, std::uint64_t>(one);
    if (!std::isfinite(value))
      return problem(header->data + i * item, "element {} is {}", i,
                     std::isnan(value) ? "not a number" : "infinite");
    out.values.push_back(value);
  }
  return out;
}

}  // namespace tiersim::numerics
