#include "sim/cli/trace_file.hpp"

#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;

/// A gzip stream. The same text gives the same bytes, since the header has no time and no name.
class Gzip {
 public:
  Gzip() {
    constexpr int kWindowOfGzip = 15 + 16;
    constexpr int kMemory = 8;  // zlib's default
    // Traces repeat themselves: a higher level saves little and takes several times as long.
    const int result = deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kWindowOfGzip, kMemory,
                                    Z_DEFAULT_STRATEGY);
    TS_ENSURES(result == Z_OK, result);
  }
  ~Gzip() { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  template <class Write>
  void add(std::string_view text, bool last, const Write& write) {
    // zlib does not write to its input.
    // NOLINTNEXTLINE(*-const-cast)
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      const int result = deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      TS_INVARIANT(result != Z_STREAM_ERROR, result);
      write(std::string_view(out_.data(), out_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
  std::array<char, std::size_t{1} << 16U> out_{};
};

class TraceFile::Impl {
 public:
  explicit Impl(const fs::path& path) : path_(path), temporary_(path) {
    if (path.extension() == ".gz") gzip_.emplace();
    expect_not_a_source(path);
    if (path == "-") {
      file_ = stdout;
      return;
    }
    std::error_code error;
    // A device or pipe is written in place, since a rename would replace it.
    special_ = fs::exists(path, error) && !fs::is_regular_file(path, error);
    if (special_) {
      file_ = std::fopen(path.c_str(), "wb");
    } else if (NewFile beside = open_beside(path); beside.descriptor >= 0) {
      temporary_ = std::move(beside.path);
      file_ = ::fdopen(beside.descriptor, "wb");
    }
    if (file_ == nullptr) fail();
  }

  ~Impl() {
    if (file_ != nullptr && file_ != stdout) std::fclose(file_);
    std::error_code error;
    if (!committed_ && !special_ && path_ != "-") fs::remove(temporary_, error);
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void write(std::string_view text) {
    if (!gzip_) return write_bytes(text);
    gzip_->add(text, false, [&](std::string_view bytes) { write_bytes(bytes); });
  }

  void commit() {
    if (gzip_) gzip_->add({}, true, [&](std::string_view bytes) { write_bytes(bytes); });
    if (path_ == "-") {
      if (std::fflush(stdout) != 0) fail();
      return;
    }
    const int closed = std::fclose(std::exchange(file_, nullptr));
    if (closed != 0) fail();
    if (special_) return;
    std::error_code error;
    fs::rename(temporary_, path_, error);
    if (error) {
      errno = error.value();
      fail();
    }
    committed_ = true;
  }

 private:
  void write_bytes(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
  }

  [[noreturn]] void fail() const {
    const int code = errno;
    if (path_ == "-") throw std::system_error(code, std::generic_category());  // like fmt::print
    throw Failure(ExitCode::usage,
                  printable(fmt::format("tiersim: error: cannot write '{}': {}", path_.string(),
                                        std::generic_category().message(code))));
  }

  fs::path path_;
  fs::path temporary_;
  bool special_ = false;
  bool committed_ = false;
  std::FILE* file_ = nullptr;
  std::optional<Gzip> gzip_;
};

TraceFile::TraceFile(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
TraceFile::~TraceFile() = default;

TraceSink TraceFile::sink() {
  return [impl = impl_.get()](std::string_view text) { impl->write(text); };
}

void TraceFile::commit() {
  impl_->commit();
}

}  // namespace tiersim::cli
