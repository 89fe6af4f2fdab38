#pragma once
// The content of files that gzip packed, in one or several members.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"

namespace tiersim {

/// Why a packed file is refused.
inline constexpr std::string_view kDamagedGzip = "is damaged: gzip cannot read it to its end";

/// Unpacks a file that comes in pieces.
class Gunzip {
 public:
  Gunzip();
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// True for the begin of a packed file.
  static bool is_packed(std::string_view begin) { return begin.starts_with("\x1f\x8b"); }

  /// Appends the content of the next bytes to `out`, at most about 1000 times as many. False where
  /// the bytes are damaged; nothing may be added after that.
  bool add(std::string_view packed, std::string& out);
  /// True where the bytes so far are a whole file.
  bool ended() const;

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

inline constexpr std::size_t kMostUnpackedBytes = std::size_t{2} << 30U;

/// The text itself, or its content where it is packed. The error is the reason why it is refused:
/// it is damaged, or holds more than `most` bytes.
Expected<std::string> gunzipped(std::string text, std::size_t most = kMostUnpackedBytes);

}  // namespace tiersim
