// Tensor copies: the address of each number of a box, and elements outside the tensor.
//
// The expected address follows the description of CU_TENSOR_MAP_SWIZZLE_128B (CUDA driver API; PTX
// ISA, "Swizzling modes"): within each 1024 bytes, the eight 16-byte units of row r of 128 bytes
// are permuted so that unit u goes to unit u xor r.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "kernels/device/hopper.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/tensor_map.cuh"
#include "tests/kernels/emulator/complaint.hpp"

namespace tiersim::kernels::tensor_copy_test {
namespace {

using ::testing::HasSubstr;

struct Box {
  unsigned rows, columns;
  int x, y;
  bool swizzled;
};

// A tensor of 24 rows x 128 columns whose number at (row, column) has the bits 128 row + column + 1
// (0 is outside), and the box in its layout in shared memory.
std::vector<std::uint16_t> copied(const Box& box, std::string* said = nullptr) {
  std::vector<std::uint16_t> bits(std::size_t{24} * 128);
  std::iota(bits.begin(), bits.end(), std::uint16_t{1});
  const DeviceArray<std::uint16_t> tensor(bits, "tensor");
  const TensorMap map = make_tensor_map(reinterpret_cast<const bf16*>(tensor.data()), 24, 128, 256,
                                        box.rows, box.columns, box.swizzled);
  const std::size_t count = std::size_t{box.rows} * box.columns;
  std::vector<std::uint16_t> got;
  const std::string complaints = complaint({1, count * 2 + 8}, [&] {
    auto* barrier = shared_memory<std::uint64_t>(count * 2);
    auto* to = shared_memory<std::uint16_t>();
    barrier_init(barrier, 1);
    fence_barrier_init();
    prefetch_tensor_map(&map);
    barrier_arrive_expect(barrier, static_cast<int>(count) * 2);
    tensor_load(to, &map, barrier, box.x, box.y);
    barrier_wait(barrier, 0);
    got.assign(to, to + count);
  });
  if (said != nullptr) {
    *said = complaints;
  } else {
    EXPECT_EQ(complaints, "");
  }
  return got;
}

std::uint16_t at(int row, int column) {
  const bool inside = row >= 0 && row < 24 && column >= 0 && column < 128;
  return static_cast<std::uint16_t>(inside ? 128 * row + column + 1 : 0);
}

void expect_swizzled(const Box& box) {
  const std::vector<std::uint16_t> got = copied(box);
  for (int row = 0; row < static_cast<int>(box.rows); ++row) {
    for (int column = 0; column < 64; ++column) {
      const int unit = column / 8 ^ row % 8;
      const int place = row * 64 + unit * 8 + column % 8;
      ASSERT_EQ(got.at(static_cast<std::size_t>(place)), at(box.y + row, box.x + column))
          << "row " << row << ", column " << column;
    }
  }
}

TEST(TensorCopy, PlainBoxLiesRowByRow) {
  const std::vector<std::uint16_t> got = copied({4, 32, 16, 3, false});
  for (int i = 0; i < 4 * 32; ++i) {
    ASSERT_EQ(got.at(static_cast<std::size_t>(i)), at(3 + i / 32, 16 + i % 32));
  }
}

TEST(TensorCopy, SwizzledBoxExchangesUnitsByTheRow) {
  expect_swizzled({8, 64, 0, 0, true});
  expect_swizzled({16, 64, 64, 5, true});
}

TEST(TensorCopy, OutsideTheTensorArriveZeros) {
  expect_swizzled({8, 64, 0, 20, true});    // four rows past the end
  expect_swizzled({8, 64, 96, 0, true});    // half of the columns past the end
  expect_swizzled({8, 64, -8, -3, true});   // before the beginning
  expect_swizzled({8, 64, 512, 99, true});  // all of it
}

TEST(TensorCopy, CountsOnlyBytesInsideTheTensorAsRead) {
  emulator::Memory& memory = emulator::machine().memory;
  memory.clear();
  copied({8, 64, 0, 20, true});
  EXPECT_EQ(memory.traffic().read_bytes, 4 * 64 * 2);
}

TEST(TensorCopy, SwizzledBoxMustBe128BytesWide) {
  std::string said;
  copied({8, 32, 0, 0, true}, &said);
  EXPECT_THAT(said, HasSubstr("a 128 B-swizzled box is 128 B wide"));
}

TEST(TensorCopy, DestinationMustBeAligned) {
  const DeviceArray<std::uint16_t> tensor(std::vector<std::uint16_t>(std::size_t{64} * 8),
                                          "tensor");
  const auto* base = reinterpret_cast<const bf16*>(tensor.data());
  for (const bool swizzled : {true, false}) {
    const TensorMap map = make_tensor_map(base, 8, 64, 128, 8, 64, swizzled);
    const auto body = [&] {
      barrier_init(shared_memory<std::uint64_t>(), 1);
      tensor_load(shared_memory<int>(64), &map, shared_memory<std::uint64_t>(), 0, 0);
    };
    EXPECT_THAT(complaint({1, 4096}, body),
                HasSubstr(swizzled ? "is not aligned to 1024" : "is not aligned to 128"));
  }
}

TEST(TensorCopy, RowsOfPartsOf16BytesAreRefused) {
  const DeviceArray<std::uint16_t> tensor(std::vector<std::uint16_t>(64), "tensor");
  const TensorMap map =
      make_tensor_map(reinterpret_cast<const bf16*>(tensor.data()), 1, 12, 128, 1, 64, true);
  const auto body = [&] {
    barrier_init(shared_memory<std::uint64_t>(1024), 1);
    tensor_load(shared_memory<int>(), &map, shared_memory<std::uint64_t>(1024), 0, 0);
  };
  EXPECT_THAT(complaint({1, 1032}, body), HasSubstr("rows are multiples of 16 bytes only"));
}

TEST(TensorCopy, MapsThatTheDriverRefusesAreRefused) {
  EXPECT_THROW(make_tensor_map(nullptr, 8, 64, 120, 8, 64), CardError);
  EXPECT_THROW(make_tensor_map(nullptr, 8, 64, 128, 257, 64), CardError);
  EXPECT_THROW(make_tensor_map(nullptr, 8, 64, 128, 8, 0), CardError);
}

}  // namespace
}  // namespace tiersim::kernels::tensor_copy_test
