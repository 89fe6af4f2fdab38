#include "sim/base/gunzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16U;

}  // namespace

class Gunzip::Stream {
 public:
  Stream() {
    constexpr int kGzip = 15 + 16;  // the largest window, with the header of gzip
    const int result = inflateInit2(&stream_, kGzip);
    TS_ENSURES(result == Z_OK, result);
  }
  ~Stream() { inflateEnd(&stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool add(std::string_view packed, std::string& out) {
    // zlib does not write to its input. NOLINTNEXTLINE(*-const-cast)
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
    do {
      if (state_ == Z_STREAM_END) {
        if (stream_.avail_in == 0) return true;
        if (inflateReset(&stream_) != Z_OK) return false;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(part_.data());
      stream_.avail_out = static_cast<uInt>(part_.size());
      state_ = inflate(&stream_, Z_NO_FLUSH);
      out.append(part_.data(), part_.size() - stream_.avail_out);
      if (state_ != Z_OK && state_ != Z_STREAM_END && state_ != Z_BUF_ERROR) return false;
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    return true;
  }
  bool ended() const { return state_ == Z_STREAM_END; }

 private:
  z_stream stream_{};
  int state_ = Z_OK;
  std::array<char, kPiece> part_;  // of the content
};

Gunzip::Gunzip() : stream_(std::make_unique<Stream>()) {}
Gunzip::~Gunzip() = default;

bool Gunzip::add(std::string_view packed, std::string& out) {
  for (; !packed.empty(); packed.remove_prefix(std::min(packed.size(), kPiece)))
    if (!stream_->add(packed.substr(0, kPiece), out)) return false;
  return true;
}
bool Gunzip::ended() const {
  return stream_->ended();
}

Expected<std::string> gunzipped(std::string text, std::size_t most) {
  if (!Gunzip::is_packed(text)) return text;
  Gunzip gunzip;
  std::string out;
  for (std::string_view left = text; !left.empty();
       left.remove_prefix(std::min(left.size(), kPiece))) {
    if (!gunzip.add(left.substr(0, kPiece), out)) return Unexpected(std::string(kDamagedGzip));
    if (out.size() > most) return Unexpected(fmt::format("holds more than {} MiB", most >> 20U));
  }
  if (!gunzip.ended()) return Unexpected(std::string(kDamagedGzip));
  return out;
}

}  // namespace tiersim
