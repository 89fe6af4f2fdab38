#include "sim/base/sha256.hpp"

#include <algorithm>
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
  std::array<std::uint32_t, 64> w;  // all of it is written below
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint8_t* word = block + 4 * i;
    w[i] = std::uint32_t{word[0]} << 24U | std::uint32_t{word[1]} << 16U |
           std::uint32_t{word[2]} << 8U | word[3];
  }
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

namespace {

constexpr std::size_t kBlock = 64;

const std::uint8_t* octets(const char* text) {
  return reinterpret_cast<const std::uint8_t*>(text);  // NOLINT(*-reinterpret-cast)
}

// Hashes the whole blocks of the text from `at` on; returns the start of the rest.
std::size_t take_blocks(Words& state, std::string_view bytes, std::size_t at) {
  for (; bytes.size() - at >= kBlock; at += kBlock) compress(state, octets(bytes.data() + at));
  return at;
}

// The digest of `before` bytes, of which `state` holds the hash, and of those of `bytes` from `at`
// on.
Digest finish(Words state, std::uint64_t before, std::string_view bytes, std::size_t at) {
  const std::uint64_t size = before + (bytes.size() - at);
  at = take_blocks(state, bytes, at);
  constexpr std::size_t kLength = 8;
  std::string padded(bytes.substr(at));
  padded += static_cast<char>(0x80);
  while (padded.size() % kBlock != kBlock - kLength) padded += '\0';
  const std::uint64_t bits = size * 8;
  for (unsigned shift = 64; shift > 0; shift -= 8)
    padded += static_cast<char>(bits >> (shift - 8) & 0xffU);
  take_blocks(state, padded, 0);
  Digest out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

}  // namespace

Digest sha256(std::string_view bytes) {
  return finish(kInitial, 0, bytes, 0);
}

std::string hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  return hex(sha256(bytes));
}

Sha256::Sha256() : state_(kInitial) {}

void Sha256::add(std::string_view bytes) {
  if (!rest_.empty()) {
    const std::size_t fill = std::min(kBlock - rest_.size(), bytes.size());
    rest_ += bytes.substr(0, fill);
    bytes.remove_prefix(fill);
    if (rest_.size() < kBlock) return;
    take_blocks(state_, rest_, 0);
    size_ += kBlock;
    rest_.clear();
  }
  const std::size_t taken = take_blocks(state_, bytes, 0);
  size_ += taken;
  rest_ = bytes.substr(taken);
}

Digest Sha256::digest() const {
  return finish(state_, size_, rest_, 0);
}

RepeatedSha256::RepeatedSha256() : state_(kInitial) {}

Digest RepeatedSha256::of(std::string_view bytes, std::size_t same) {
  same = std::min(same, begin_.size());
  if (!bytes.substr(same).starts_with(std::string_view(begin_).substr(same))) {
    // The common prefix is shorter than assumed: keep its whole blocks.
    const auto differs = std::ranges::mismatch(begin_, bytes).in1;
    begin_.resize(static_cast<std::size_t>(differs - begin_.begin()) / kBlock * kBlock);
    state_ = kInitial;
    take_blocks(state_, begin_, 0);
  } else if (begin_.empty() && !had_one_) {
    begin_ = bytes.substr(0, bytes.size() / kBlock * kBlock);
    take_blocks(state_, begin_, 0);
  }
  had_one_ = true;
  return finish(state_, begin_.size(), bytes, begin_.size());
}

}  // namespace tiersim
