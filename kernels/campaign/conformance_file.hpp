// The file that carries the expected words from the emulator to a card, and the verdict on one
// probe. The file is plain text:
//   tiersim.conformance/v1
//   <probe> <number of words>
//   eight words of eight hexadecimal digits a line
#pragma once
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace tiersim::kernels::conformance {

using Expected = std::map<std::string, std::vector<std::uint32_t>>;

void write(std::ostream& to, const Expected& expected);
Expected read(std::istream& from);  // throws std::runtime_error that names the line

// Distance in units in the last place; the largest number where only one of them is a NaN.
std::uint32_t ulp_distance(std::uint32_t a, std::uint32_t b);

struct Verdict {
  std::size_t words = 0;
  std::size_t different = 0;
  std::string first;  // the first difference and its place; empty: none
};
// ulp and absolute both 0: bit for bit. Otherwise words are floats and one of the bounds must hold.
Verdict judge(const std::vector<std::uint32_t>& expected, const std::vector<std::uint32_t>& got,
              std::uint32_t ulp, float absolute);

}  // namespace tiersim::kernels::conformance
