#pragma once
// SHA-256 (FIPS 180-4), for run ids and for seeding random streams.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tiersim {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
/// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace tiersim
