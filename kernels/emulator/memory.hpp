// The memory of the emulated card: all arrays that a kernel may access, the bytes accessed, and the
// counts of bytes and multiply-adds. Loads and stores of kernels go through it (device/memory.cuh).
// Each is checked for bounds, alignment and reads of unwritten bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace tiersim::emulator {

// Bytes at an aligned address. The bytes behind them are not allocated, so that AddressSanitizer
// sees an access beyond.
struct AlignedDelete {
  std::align_val_t alignment;
  void operator()(unsigned char* bytes) const { ::operator delete(bytes, alignment); }
};
using AlignedBytes = std::unique_ptr<unsigned char[], AlignedDelete>;
AlignedBytes make_aligned(std::size_t bytes, std::size_t alignment);  // throws std::bad_alloc

enum class Space { device, host };  // host: pinned memory, reached over the link

// Counts since clear(). Distinct bytes count once for each launch, requested bytes each time.
struct Traffic {
  std::int64_t read_bytes = 0;         // distinct, device memory
  std::int64_t written_bytes = 0;      // distinct
  std::int64_t read_sector_bytes = 0;  // 32 B for each sector touched
  std::int64_t link_read_bytes = 0;    // distinct, pinned host memory
  std::int64_t link_written_bytes = 0;
  std::int64_t requested_bytes = 0;       // both spaces, reads and writes, repeats included
  std::int64_t multiply_adds = 0;         // fp32 fused multiply-adds and products on the CUDA cores
  std::int64_t dot_multiply_adds = 0;     // of dp4a
  std::int64_t matrix_multiply_adds = 0;  // of mma.sync and wgmma
  std::int64_t flops() const {
    return 2 * (multiply_adds + dot_multiply_adds + matrix_multiply_adds);
  }
};

// One bit a byte of an array.
class ByteSet {
 public:
  explicit ByteSet(std::size_t bytes) : words_((bytes + 63) / 64) {}
  void add(std::size_t first, std::size_t count);
  bool holds(std::size_t first, std::size_t count) const;  // all of them
  bool meets(std::size_t first, std::size_t count) const;  // any of them
  void clear();
  std::int64_t bytes() const;
  std::int64_t sectors() const;  // groups of 32 bytes with at least one

 private:
  std::vector<std::uint64_t> words_;
};

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Allocates a 256 B aligned array; zero length is allowed. Its content is poison (0xff: NaN in
  // every float format) and counts as unwritten.
  void* allocate(std::size_t bytes, Space space, std::string name = "");
  void free(void* array);
  void host_wrote(const void* at, std::size_t bytes);  // initialised from outside
  void poison(void* array);  // fills the whole array with 0xff and marks it as unwritten

  // An access of 1, 2, 4, 8 or 16 bytes by a kernel (more for bulk copies); throws KernelFailure.
  // Blocks of a launch have no order: two that store to one byte race, and the read-only path may
  // miss any store of the launch. Reads of another block's bytes are not judged, since flags may
  // order them.
  void read(const void* at, std::size_t bytes, std::size_t alignment);
  void read_only(const void* at, std::size_t bytes, std::size_t alignment);
  void write(const void* at, std::size_t bytes, std::size_t alignment);
  void update(const void* at, std::size_t bytes, std::size_t alignment);  // an atomic

  void end_of_block();
  void end_of_launch();  // adds up the distinct bytes and clears them
  void clear() { traffic_ = {}; }
  const Traffic& traffic() const { return traffic_; }
  Traffic& count() { return traffic_; }
  std::size_t live_arrays() const { return arrays_.size(); }

 private:
  struct Array {
    Array(AlignedBytes memory, std::size_t bytes, Space in, std::string called)
        : content(std::move(memory)),
          size(bytes),
          space(in),
          name(std::move(called)),
          valid(bytes),
          read(bytes),
          written(bytes),
          earlier(bytes) {}
    AlignedBytes content;
    std::size_t size;
    Space space;
    std::string name;
    ByteSet valid, read, written;
    ByteSet earlier;  // bytes stored by finished blocks of this launch, without atomics
    struct Range {
      std::size_t first, count;
    };
    std::vector<Range> stores;  // of the running block
    bool touched = false;
  };
  using Arrays = std::map<std::uintptr_t, Array>;
  Arrays::iterator find(const void* at, std::size_t bytes, std::size_t alignment, const char* what);
  Arrays::iterator find_read(const void* at, std::size_t bytes, std::size_t alignment);
  Arrays::iterator find_write(const void* at, std::size_t bytes, std::size_t alignment);

  Arrays arrays_;
  Arrays::iterator last_ = arrays_.end();  // most accesses are to the same array as the one before
  Traffic traffic_;
};

}  // namespace tiersim::emulator
