// The emulator's own vector and bf16 types against the CUDA toolkit's, bit for bit.
#include <gtest/gtest.h>

#include "kernels/cases/random.hpp"
#include "tests/kernels/emulator/types_bits.hpp"

namespace tiersim::kernels::types_test {
namespace {

TEST(Types, EveryBf16BecomesTheToolkitsFloat) {
  const TypesBits own = own_types();
  const TypesBits toolkit = toolkit_types();
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto value = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(own.to_float(value), toolkit.to_float(value)) << bits;
  }
}

// Values around every bf16 number: itself, just above, the tie, both sides of it, just below the
// next. They include both zeros, subnormals, infinities, NaN of both signs and the largest numbers.
TEST(Types, FloatsAroundEveryBf16RoundAsTheToolkits) {
  const TypesBits own = own_types();
  const TypesBits toolkit = toolkit_types();
  for (std::uint32_t upper = 0; upper < 0x10000U; ++upper) {
    for (const std::uint32_t lower : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      const std::uint32_t bits = upper << 16U | lower;
      ASSERT_EQ(own.to_bf16(bits), toolkit.to_bf16(bits)) << std::hex << bits;
    }
  }
}

TEST(Types, AMillionRandomFloatsRoundAsTheToolkits) {
  const TypesBits own = own_types();
  const TypesBits toolkit = toolkit_types();
  Random random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    ASSERT_EQ(own.to_bf16(bits), toolkit.to_bf16(bits)) << std::hex << bits;
  }
}

TEST(Types, VectorsLieInMemoryAsTheToolkits) {
  EXPECT_EQ(own_types().layout(), toolkit_types().layout());
}

}  // namespace
}  // namespace tiersim::kernels::types_test
