#include "kernels/emulator/matrix.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/emulator/block.hpp"
#include "kernels/emulator/sanitizer.hpp"

namespace tiersim::emulator {
namespace {

constexpr unsigned kAllLanes = 0xffffffffU;

// Identities of warp operations: lanes of a warp must meet in the same one.
enum Operation { load_x4 = 100, load_x4_transposed, load_x2, load_x2_transposed, multiply };

float low_half(unsigned pair) {
  return std::bit_cast<float>(pair << 16);
}
float high_half(unsigned pair) {
  return std::bit_cast<float>(pair & 0xffff0000U);
}
float half_of(unsigned pair, int which) {
  return which == 0 ? low_half(pair) : high_half(pair);
}

template <class T>
T take(const void* from, std::size_t offset = 0) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(from) + offset, sizeof value);
  return value;
}

std::uint16_t element(const unsigned char* row, int column) {
  return take<std::uint16_t>(row, 2 * static_cast<std::size_t>(column));
}

template <int Matrices, bool Transposed>
void combine_load(Block&, Thread* const* lanes) {
  const auto row = [&](int matrix, int r) {
    return take<const unsigned char*>(lanes[8 * matrix + r]->in.data());
  };
  for (int lane = 0; lane < 32; ++lane) {
    for (int matrix = 0; matrix < Matrices; ++matrix) {
      const int fixed = lane / 4;
      const int pair = 2 * (lane % 4);
      unsigned low = 0;
      unsigned high = 0;
      if (Transposed) {
        low = element(row(matrix, pair), fixed);
        high = element(row(matrix, pair + 1), fixed);
      } else {
        low = element(row(matrix, fixed), pair);
        high = element(row(matrix, fixed), pair + 1);
      }
      const unsigned both = low | high << 16;
      std::memcpy(lanes[lane]->out.data() + 4 * static_cast<std::size_t>(matrix), &both, 4);
    }
  }
}

template <std::size_t Count>
void load_matrix(unsigned (&registers)[Count], const void* row, bool transposed) {
  constexpr int kMatrices = static_cast<int>(Count);
  Block& here = block();
  Thread& me = here.self();
  if (me.lane() < 8 * kMatrices) {
    here.expect_shared(row, 16, 16, "ldmatrix");
    show_read(row, 16);
  }
  std::memcpy(me.in.data(), &row, sizeof row);
  const int base = kMatrices == 4 ? load_x4 : load_x2;
  here.warp_operation(kAllLanes, base + (transposed ? 1 : 0),
                      transposed ? combine_load<kMatrices, true> : combine_load<kMatrices, false>,
                      {"ldmatrix", "", 0});
  std::memcpy(registers, me.out.data(), sizeof registers);
}

void combine_multiply(Block& here, Thread* const* lanes) {
  float a[16][16];
  float b[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int quad = lane & 3;
    for (int i = 0; i < 4; ++i) {
      const auto pair = take<unsigned>(lanes[lane]->in.data(), 4 * static_cast<std::size_t>(i));
      for (int h = 0; h < 2; ++h)
        a[group + 8 * (i & 1)][2 * quad + h + 8 * (i >> 1)] = half_of(pair, h);
    }
    for (int i = 0; i < 2; ++i) {
      const auto pair =
          take<unsigned>(lanes[lane]->in.data(), 16 + 4 * static_cast<std::size_t>(i));
      for (int h = 0; h < 2; ++h) b[2 * quad + h + 8 * i][group] = half_of(pair, h);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = (lane >> 2) + 8 * (i >> 1);
      const int column = 2 * (lane & 3) + (i & 1);
      float sum = take<float>(lanes[lane]->in.data(), 24 + 4 * static_cast<std::size_t>(i));
      for (int k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
      std::memcpy(lanes[lane]->out.data() + 4 * static_cast<std::size_t>(i), &sum, 4);
    }
  }
  here.memory().count().matrix_multiply_adds += std::int64_t{16} * 8 * 16;
}

// Products of a warpgroup.

struct Operand {
  std::uint64_t start, leading, stride;
};

Operand decode(std::uint64_t descriptor) {
  if (descriptor >> 62 != 1) fail("a matrix descriptor without 128 B swizzle");
  return {(descriptor & 0x3fff) << 4, (descriptor >> 16 & 0x3fff) << 4,
          (descriptor >> 32 & 0x3fff) << 4};
}

// Offset in shared memory of element (row, k) of an operand whose 16 elements along k are
// contiguous (K-major: cores of 8 rows x 128 B, `stride` apart), or whose rows are (MN-major: 64
// rows wide, 8 deep, `leading` apart along the rows and `stride` apart along k).
std::uint64_t offset(const Operand& operand, bool rows_contiguous, int row, int k) {
  const auto r = static_cast<std::uint64_t>(row);
  const auto depth = static_cast<std::uint64_t>(k);
  std::uint64_t at = operand.start;
  if (rows_contiguous) {
    at += r % 64 * 2 + r / 64 * operand.leading + depth % 8 * 128 + depth / 8 * operand.stride;
  } else {
    at += r % 8 * 128 + r / 8 * operand.stride + depth * 2;
  }
  return at ^ (at >> 7 & 7) << 4;  // 128 B swizzle: 16 B units exchanged by the row's number
}

float operand_element(Block& here, const Operand& operand, bool rows_contiguous, int row, int k) {
  const std::uint64_t at = offset(operand, rows_contiguous, row, k);
  if (at + 2 > here.shared_bytes()) fail("a matrix descriptor reads past shared memory");
  here.expect_shown(at, 2, "wgmma");
  return std::bit_cast<float>(static_cast<unsigned>(take<std::uint16_t>(here.shared(), at)) << 16);
}

// The next wgmma in flight of this thread, after `done`, with the same accumulators; null: none. In
// the order of issue: groups, then uncommitted ones.
MatrixOperation* next_of(Block::Warpgroup& group, std::size_t slot, const float* accumulator,
                         const MatrixOperation* done) {
  bool after = done == nullptr;
  const auto look = [&](std::vector<MatrixOperation>& operations) -> MatrixOperation* {
    for (MatrixOperation& one : operations) {
      if (after && one.accumulator == accumulator) return &one;
      after = after || &one == done;
    }
    return nullptr;
  };
  for (std::vector<MatrixOperation>& operations : group.groups[slot]) {
    if (MatrixOperation* found = look(operations)) return found;
  }
  return look(group.open[slot]);
}

// Accumulators hold this NaN from the issue of a wgmma to the wait for it, so that early reads give
// NaN and early writes are detected.
constexpr unsigned kInFlight = 0xffffffffU;

// The result of a product goes to the next one in flight with the same accumulators, or to the
// thread.
void deliver(Block::Warpgroup& group, std::size_t slot, const MatrixOperation& done,
             std::vector<float> sums) {
  if (MatrixOperation* next = next_of(group, slot, done.accumulator, &done)) {
    next->before = std::move(sums);
    return;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (std::bit_cast<unsigned>(done.accumulator[i]) != kInFlight) {
      fail("accumulators of a wgmma were written while it was in flight");
    }
    done.accumulator[i] = sums[i];
  }
}

// Computes one product of a warpgroup from the parts of its 128 threads.
void execute(Block& here, Block::Warpgroup& warpgroup,
             const std::array<MatrixOperation*, 128>& parts) {
  const MatrixOperation& first = *parts[0];
  const int columns = first.columns;
  const auto width = static_cast<std::size_t>(columns);
  float a[64][16];
  std::vector<float> b(16 * width);
  const Operand in_b = decode(first.descriptor_b);
  for (int k = 0; k < 16; ++k) {
    for (int n = 0; n < columns; ++n) {
      b[static_cast<std::size_t>(k) * width + static_cast<std::size_t>(n)] =
          operand_element(here, in_b, first.b_transposed, n, k);
    }
  }
  if (!first.a_in_registers) {
    const Operand in_a = decode(first.descriptor_a);
    for (int m = 0; m < 64; ++m) {
      for (int k = 0; k < 16; ++k) a[m][k] = operand_element(here, in_a, false, m, k);
    }
  }
  for (std::size_t t = 0; t < 128; ++t) {
    const int warp = static_cast<int>(t) / 32;
    const int group = static_cast<int>(t) % 32 >> 2;
    const int quad = static_cast<int>(t) & 3;
    for (std::size_t i = 0; first.a_in_registers && i < 4; ++i) {
      const int row = 16 * warp + group + 8 * static_cast<int>(i & 1);
      const int k = 2 * quad + 8 * static_cast<int>(i >> 1);
      a[row][k] = low_half(parts[t]->a[i]);
      a[row][k + 1] = high_half(parts[t]->a[i]);
    }
  }
  for (std::size_t t = 0; t < 128; ++t) {
    std::vector<float> sums = std::move(parts[t]->before);
    if (!first.accumulate) sums.assign(width / 2, 0.0F);
    for (int i = 0; i < columns / 2; ++i) {
      const int lane = static_cast<int>(t) % 32;
      const int row = 16 * (static_cast<int>(t) / 32) + (lane >> 2) + 8 * (i >> 1 & 1);
      const int column = 8 * (i >> 2) + 2 * (lane & 3) + (i & 1);
      float& sum = sums[static_cast<std::size_t>(i)];
      for (int k = 0; k < 16; ++k)
        sum +=
            a[row][k] * b[static_cast<std::size_t>(k) * width + static_cast<std::size_t>(column)];
    }
    deliver(warpgroup, t, *parts[t], std::move(sums));
  }
  here.memory().count().matrix_multiply_adds += std::int64_t{64} * columns * 16;
}

// Executes the oldest group of all 128 threads.
void execute_group(Block& here, Block::Warpgroup& group) {
  const std::size_t count = group.groups[0].front().size();
  for (const auto& queue : group.groups) {
    if (queue.empty() || queue.front().size() != count) {
      fail("wgmma issued or committed by a part of a warpgroup only");
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::array<MatrixOperation*, 128> parts{};
    for (std::size_t t = 0; t < 128; ++t) {
      parts[t] = &group.groups[t].front()[i];
      if (parts[t]->descriptor_b != parts[0]->descriptor_b ||
          parts[t]->descriptor_a != parts[0]->descriptor_a ||
          parts[t]->columns != parts[0]->columns) {
        fail("threads of a warpgroup issue different wgmma");
      }
    }
    execute(here, group, parts);
  }
  for (auto& queue : group.groups) queue.pop_front();
}

std::size_t own_slot(Block& here) {
  return static_cast<std::size_t>(here.self().linear % 128);
}

// Makes the reads of shared memory of a queued product visible to the sanitizers.
void show_operand(Block& here, std::uint64_t descriptor, bool rows_contiguous, int rows) {
#if TS_EMULATOR_TSAN
  const Operand operand = decode(descriptor);
  for (int row = here.self().lane() * 2; row < rows; row += 64) {
    const std::uint64_t at = offset(operand, rows_contiguous, row, 0);
    if (at + 2 <= here.shared_bytes())
      show_read(static_cast<unsigned char*>(here.shared()) + at, 2);
  }
#else
  static_cast<void>(here);
  static_cast<void>(descriptor);
  static_cast<void>(rows_contiguous);
  static_cast<void>(rows);
#endif
}

}  // namespace

void load_matrix_x4(unsigned (&registers)[4], const void* row, bool transposed) {
  load_matrix(registers, row, transposed);
}

void load_matrix_x2(unsigned (&registers)[2], const void* row, bool transposed) {
  load_matrix(registers, row, transposed);
}

void multiply_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  Block& here = block();
  Thread& me = here.self();
  std::memcpy(me.in.data(), a, 16);
  std::memcpy(me.in.data() + 16, b, 8);
  std::memcpy(me.in.data() + 24, d, 16);
  here.warp_operation(kAllLanes, multiply, combine_multiply, {"mma.sync", "", 0});
  std::memcpy(d, me.out.data(), 16);
}

std::uint64_t matrix_descriptor(const void* shared, int leading, int stride) {
  Block& here = block();
  here.expect_shared(shared, 16, 16, "a matrix descriptor");
  const auto start = static_cast<std::uint64_t>(static_cast<const unsigned char*>(shared) -
                                                static_cast<const unsigned char*>(here.shared()));
  return start >> 4 | static_cast<std::uint64_t>(leading >> 4 & 0x3fff) << 16 |
         static_cast<std::uint64_t>(stride >> 4 & 0x3fff) << 32 | std::uint64_t{1} << 62;
}

Block::Warpgroup& Block::warpgroup() {
  if (warpgroups_.empty()) fail("wgmma in a block that is not made of whole warpgroups");
  return warpgroups_[static_cast<std::size_t>(self().linear / 128)];
}

void warpgroup_multiply(float* d, int columns, const unsigned* a, std::uint64_t descriptor_a,
                        std::uint64_t descriptor_b, bool b_transposed, bool accumulate) {
  Block& here = block();
  const OwnWork scope;
  Block::Warpgroup& group = here.warpgroup();
  const std::size_t slot = own_slot(here);
  if (!group.fenced[slot]) fail("wgmma without wgmma.fence after the accumulators were touched");
  MatrixOperation part{
      d, columns, a != nullptr, b_transposed, accumulate, {}, descriptor_a, descriptor_b, {}};
  if (a != nullptr) std::memcpy(part.a.data(), a, 16);
  if (next_of(group, slot, d, nullptr) == nullptr) {
    if (accumulate) part.before.assign(d, d + columns / 2);
    std::fill_n(d, columns / 2, std::bit_cast<float>(kInFlight));
  }
  group.open[slot].push_back(std::move(part));
}

void warpgroup_fence() {
  Block& here = block();
  const OwnWork scope;
  here.warpgroup().fenced[own_slot(here)] = true;
}

void warpgroup_commit() {
  Block& here = block();
  const OwnWork scope;
  Block::Warpgroup& group = here.warpgroup();
  const std::size_t slot = own_slot(here);
  group.groups[slot].push_back(std::move(group.open[slot]));
  group.open[slot].clear();
}

void warpgroup_wait(int groups_left) {
  Block& here = block();
  const OwnWork scope;
  Block::Warpgroup& group = here.warpgroup();
  const std::size_t slot = own_slot(here);
  std::vector<MatrixOperation> shown;
  const std::size_t left = static_cast<std::size_t>(groups_left);
  if (group.waiting > 0 && group.groups_left != left) {
    fail("threads of a warpgroup wait for different numbers of wgmma groups");
  }
  group.groups_left = left;
  for (std::size_t i = 0; TS_EMULATOR_TSAN != 0 && i + left < group.groups[slot].size(); ++i) {
    for (const MatrixOperation& part : group.groups[slot][i]) shown.push_back(part);
  }
  if (++group.waiting == 128) {
    while (group.groups[0].size() > left) execute_group(here, group);
    group.waiting = 0;
    ++group.generation;
  } else {
    struct Wait {
      Block::Warpgroup* group;
      std::uint64_t generation;
    } wait{&group, group.generation};
    here.poll(
        [](void* subject) {
          const Wait& it = *static_cast<Wait*>(subject);
          return it.group->generation != it.generation;
        },
        &wait, {"wgmma.wait_group", "", 0});
  }
  group.fenced[slot] = false;
  for (const MatrixOperation& part : shown) {
    show_operand(here, part.descriptor_b, part.b_transposed, part.columns);
    if (!part.a_in_registers) show_operand(here, part.descriptor_a, false, 64);
  }
}

}  // namespace tiersim::emulator
