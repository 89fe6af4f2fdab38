#include "workloads/serving/trace_lines.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/gunzip.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16U;
constexpr std::size_t kLongestLine = std::size_t{1} << 26U;
constexpr std::size_t kProblemsMost = 20;
constexpr std::int64_t kMostLines = std::numeric_limits<int>::max();  // of a Location
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

class TraceLines::Impl {
 public:
  explicit Impl(const fs::path& path) {
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    if (fs::is_directory(status)) {
      error_ = "is a folder";
    } else if (fs::exists(status) && !fs::is_regular_file(status)) {
      error_ = "is no regular file, and a trace is read more than once";
    } else {
      errno = 0;
      file_.open(path, std::ios::binary);
      if (!file_) error_ = std::generic_category().message(errno == 0 ? EIO : errno);
    }
  }
  explicit Impl(std::string_view text) : text_(text), of_text_(true) {}

  std::optional<TraceLine> next() {
    for (;;) {
      const std::string_view left = std::string_view(held_).substr(at_);
      const std::size_t end = left.find('\n', scanned_);
      if (end != std::string_view::npos) return line(left.substr(0, end), end + 1);
      scanned_ = left.size();
      if (ended_ || !error_.empty()) {
        if (left.empty() || !error_.empty()) return std::nullopt;
        return line(left, left.size());
      }
      if (left.size() > kLongestLine) {
        error_ = fmt::format("line {} is longer than {} MiB", number_ + 1, kLongestLine >> 20U);
        return std::nullopt;
      }
      held_.erase(0, at_);
      at_ = 0;
      fill();
    }
  }
  const std::string& error() const { return error_; }
  std::string digest() const { return hex(hash_.digest()); }

 private:
  TraceLine line(std::string_view text, std::size_t taken) {
    at_ += taken;
    scanned_ = 0;
    if (++number_ == 1 && text.starts_with(kByteOrderMark))
      text.remove_prefix(kByteOrderMark.size());
    if (text.ends_with('\r')) text.remove_suffix(1);
    return {number_, text};
  }

  // Reads one piece of the file.
  void fill() {
    std::string_view piece;
    if (of_text_) {
      piece = text_.substr(0, kPiece);
      text_.remove_prefix(piece.size());
    } else {
      file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
      piece = {buffer_.data(), static_cast<std::size_t>(file_.gcount())};
      if (file_.bad()) error_ = std::generic_category().message(errno == 0 ? EIO : errno);
    }
    if (piece.empty()) {
      ended_ = true;
      if (gunzip_ && !gunzip_->ended()) error_ = kDamagedGzip;
      return;
    }
    hash_.add(piece);
    if (std::exchange(first_, false) && Gunzip::is_packed(piece)) gunzip_.emplace();
    if (!gunzip_)
      held_ += piece;
    else if (!gunzip_->add(piece, held_))
      error_ = kDamagedGzip;
  }

  std::ifstream file_;
  std::string_view text_;
  bool of_text_ = false;
  std::array<char, kPiece> buffer_{};
  Sha256 hash_;
  std::optional<Gunzip> gunzip_;
  bool first_ = true;
  bool ended_ = false;
  std::string held_;         // read, and unpacked
  std::size_t at_ = 0;       // begin of the next line in `held_`
  std::size_t scanned_ = 0;  // bytes from there without an end of a line
  std::int64_t number_ = 0;
  std::string error_;
};

TraceLines::TraceLines(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
TraceLines::TraceLines(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceLines::TraceLines(TraceLines&&) noexcept = default;
TraceLines::~TraceLines() = default;

TraceLines TraceLines::of_text(std::string_view text) {
  return TraceLines(std::make_unique<Impl>(text));
}
std::optional<TraceLine> TraceLines::next() {
  return impl_->next();
}
const std::string& TraceLines::error() const {
  return impl_->error();
}
std::string TraceLines::digest() const {
  return impl_->digest();
}

void TraceMistakes::report(const TraceLine& line, std::size_t column, std::string message,
                           std::string hint) {
  if (problems_.size() == kProblemsMost) {
    if (left_out_++ == 0) left_out_from_ = line.number;
    return;
  }
  problems_.push_back({std::move(message), std::move(hint),
                       Location{file_, static_cast<int>(std::min(line.number, kMostLines)),
                                static_cast<int>(column)}});
}

TraceProblems TraceMistakes::take() && {
  if (left_out_ > 0)
    problems_.push_back(
        {fmt::format("{} more mistakes from here on", left_out_),
         {},
         Location{file_, static_cast<int>(std::min(left_out_from_, kMostLines)), 1}});
  return std::move(problems_);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 40;
  const bool whole = text.size() <= kMost;
  return '\'' + printable(text.substr(0, kMost)) + (whole ? "'" : "...'");
}

}  // namespace tiersim
