#pragma once
// SHA-256 (FIPS 180-4), for run ids and for seeding random streams.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tiersim {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
/// 64 lower-case hexadecimal digits.
std::string hex(const Digest& digest);
std::string sha256_hex(std::string_view bytes);

/// The digest of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// The digest of all bytes added so far.
  Digest digest() const;

 private:
  std::array<std::uint32_t, 8> state_;  // of the whole blocks
  std::string rest_ = {};               // less than a block
  std::uint64_t size_ = 0;              // of the whole blocks
};

/// Digests of texts with a common prefix, which is hashed once.
class RepeatedSha256 {
 public:
  RepeatedSha256();
  /// sha256(bytes). `same`: bytes at the beginning that are known to be those of the text before.
  Digest of(std::string_view bytes, std::size_t same = 0);

 private:
  std::string begin_ = {};              // the common prefix, in whole blocks
  std::array<std::uint32_t, 8> state_;  // state after these blocks
  bool had_one_ = false;
};

}  // namespace tiersim
