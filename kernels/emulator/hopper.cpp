#include "kernels/device/hopper.cuh"

namespace tiersim::kernels {

void bulk_load(void* to, const void* from, int bytes, std::uint64_t* barrier) {
  if (bytes <= 0 || bytes % 16 != 0) emulator::fail("a bulk copy moves multiples of 16 bytes");
  emulator::BulkCopy copy{};
  copy.rows.push_back({to, from, static_cast<std::uint32_t>(bytes)});
  copy.barrier = barrier;
  copy.bytes = bytes;
  emulator::block().bulk_load(std::move(copy));
}

void tensor_load(void* to, const TensorMap* map, std::uint64_t* barrier, int x, int y) {
  const emulator::OwnWork scope;
  emulator::Block& here = emulator::block();
  const std::size_t row_bytes = std::size_t{2} * map->box_columns;
  if (map->swizzled && row_bytes != 128) emulator::fail("a 128 B-swizzled box is 128 B wide");
  here.expect_shared(to, row_bytes * map->box_rows, map->swizzled ? 1024 : 128, "a tensor copy");
  emulator::BulkCopy copy{};
  const auto* offset_of = static_cast<unsigned char*>(here.shared());
  for (unsigned row = 0; row < map->box_rows; ++row) {
    for (std::size_t unit = 0; unit < row_bytes / 16; ++unit) {
      auto* at = static_cast<unsigned char*>(to) + row * row_bytes + unit * 16;
      auto offset = static_cast<std::size_t>(at - offset_of);
      if (map->swizzled) offset ^= (offset >> 7 & 7) << 4;
      const std::int64_t column = x + static_cast<std::int64_t>(unit) * 8;
      const std::int64_t line = std::int64_t{y} + row;
      const bool inside = column >= 0 && line >= 0 &&
                          column + 8 <= static_cast<std::int64_t>(map->columns) &&
                          line < static_cast<std::int64_t>(map->rows);
      if (!inside && column >= 0 && column < static_cast<std::int64_t>(map->columns) && line >= 0 &&
          line < static_cast<std::int64_t>(map->rows)) {
        emulator::fail("the emulator copies tensors whose rows are multiples of 16 bytes only");
      }
      const void* from = inside ? static_cast<const unsigned char*>(map->base) +
                                      static_cast<std::uint64_t>(line) * map->row_bytes +
                                      static_cast<std::uint64_t>(column) * 2
                                : nullptr;
      copy.rows.push_back({static_cast<unsigned char*>(here.shared()) + offset, from, 16});
    }
  }
  copy.barrier = barrier;
  copy.bytes = static_cast<std::int64_t>(row_bytes) * map->box_rows;
  here.bulk_load(std::move(copy));
}

}  // namespace tiersim::kernels
