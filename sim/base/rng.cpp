#include "sim/base/rng.hpp"

#include <string>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/sha256.hpp"

namespace tiersim {

Rng::Rng(std::uint64_t seed, std::string_view component) {
  std::string name(component);
  for (unsigned shift = 0; shift < 64; shift += 8) name += static_cast<char>(seed >> shift & 0xffU);
  const Digest digest = sha256(name);
  for (std::size_t i = 0; i < digest.size(); ++i)
    state_[i / 8] |= std::uint64_t{digest[i]} << (8 * (i % 8));
}

// Lemire's multiply-and-reject.
std::uint64_t Rng::below(std::uint64_t n) {
  TS_EXPECTS(n > 0);
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{next()} * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < threshold) product = Wide{next()} * n;
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

double Rng::exponential(double mean) {
  return -mean * portable_log(uniform());
}

}  // namespace tiersim
