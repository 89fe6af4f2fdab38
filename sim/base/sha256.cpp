#include "sim/base/sha256.hpp"

#include <bit>

namespace tiersim {
namespace {

using Words = std::array<std::uint32_t, 8>;

// The standard's constants: the first 32 bits of the fractional parts of the cube roots of the
// first 64 primes, and of the square roots of the first eight, found here by integer arithmetic.
constexpr bool is_prime(std::uint32_t n) {
  for (std::uint32_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}

// floor(2^32 * n^(1 / degree)) mod 2^32, bit by bit.
constexpr std::uint32_t root_fraction(std::uint32_t n, int degree) {
  __extension__ using Wide = unsigned __int128;
  const Wide target = Wide{n} << (32U * static_cast<unsigned>(degree));
  std::uint64_t root = 0;
  for (int bit = 36; bit >= 0; --bit) {
    const std::uint64_t trial = root | (std::uint64_t{1} << static_cast<unsigned>(bit));
    Wide power = 1;
    for (int d = 0; d < degree; ++d) power *= trial;
    if (power <= target) root = trial;
  }
  return static_cast<std::uint32_t>(root);
}

template <std::size_t N>
constexpr std::array<std::uint32_t, N> prime_roots(int degree) {
  std::array<std::uint32_t, N> out{};
  std::uint32_t prime = 2;
  for (std::uint32_t& word : out) {
    while (!is_prime(prime)) ++prime;
    word = root_fraction(prime++, degree);
  }
  return out;
}

constexpr std::array<std::uint32_t, 64> kRound = prime_roots<64>(3);
constexpr Words kInitial = prime_roots<8>(2);

void compress(Words& state, const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t b = 0; b < 4; ++b) w[i] = w[i] << 8U | block[4 * i + b];
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3U) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10U);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                             ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const std::uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const Words mixed{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += mixed[i];
}

}  // namespace

Digest sha256(std::string_view bytes) {
  std::string padded(bytes);
  padded += static_cast<char>(0x80);
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (unsigned shift = 64; shift > 0; shift -= 8)
    padded += static_cast<char>(bits >> (shift - 8) & 0xffU);

  Words state = kInitial;
  for (std::size_t at = 0; at < padded.size(); at += 64)
    compress(state, reinterpret_cast<const std::uint8_t*>(padded.data()) + at);
  Digest out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : sha256(bytes)) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

}  // namespace tiersim
