#include "sim/cli/gunzip.hpp"

#include <zlib.h>

#include <array>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/runner/failure.hpp"

namespace tiersim::cli {
namespace {

constexpr std::size_t kMost = std::size_t{2} << 30U;

[[noreturn]] void refuse(const std::string& path, const char* why) {
  throw Failure(ExitCode::bad_config, printable(fmt::format("{}: error: {}", path, why)));
}

}  // namespace

std::string gunzipped(const std::string& path, std::string text) {
  if (!text.starts_with("\x1f\x8b")) return text;
  z_stream stream{};
  constexpr int kGzip = 15 + 16;  // the largest window, with the header of gzip
  if (inflateInit2(&stream, kGzip) != Z_OK) refuse(path, "zlib has no memory");
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  std::string out;
  std::array<char, 1U << 16U> part{};
  int state = Z_OK;
  while (state == Z_OK && out.size() <= kMost) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(part.data(), part.size() - stream.avail_out);
    // A file may consist of several compressed parts, one after the other.
    if (state == Z_STREAM_END && stream.avail_in > 0) state = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (out.size() > kMost) refuse(path, "holds more than 2 GiB");
  if (state != Z_STREAM_END) refuse(path, "is damaged: gzip cannot read it to its end");
  return out;
}

}  // namespace tiersim::cli
