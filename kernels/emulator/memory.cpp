#include "kernels/emulator/memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "kernels/emulator/block.hpp"
#include "kernels/emulator/sanitizer.hpp"

namespace tiersim::emulator {
namespace {

// Bits [from, from + count) of a word, count 1..64.
std::uint64_t bits(std::size_t from, std::size_t count) {
  const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  return ones << from;
}

// Calls each(word, bits) for the words that hold [first, first + count).
template <class Each>
void over_words(std::size_t first, std::size_t count, Each each) {
  while (count > 0) {
    const std::size_t from = first % 64;
    const std::size_t here = count < 64 - from ? count : 64 - from;
    each(first / 64, bits(from, here));
    first += here;
    count -= here;
  }
}

}  // namespace

void ByteSet::add(std::size_t first, std::size_t count) {
  over_words(first, count, [this](std::size_t word, std::uint64_t mask) { words_[word] |= mask; });
}

bool ByteSet::holds(std::size_t first, std::size_t count) const {
  bool all = true;
  over_words(first, count, [&](std::size_t word, std::uint64_t mask) {
    all = all && (words_[word] & mask) == mask;
  });
  return all;
}

bool ByteSet::meets(std::size_t first, std::size_t count) const {
  bool any = false;
  over_words(first, count, [&](std::size_t word, std::uint64_t mask) {
    any = any || (words_[word] & mask) != 0;
  });
  return any;
}

void ByteSet::clear() {
  std::fill(words_.begin(), words_.end(), 0);
}

std::int64_t ByteSet::bytes() const {
  std::int64_t sum = 0;
  for (const std::uint64_t word : words_) sum += std::popcount(word);
  return sum;
}

std::int64_t ByteSet::sectors() const {
  std::int64_t sum = 0;
  for (const std::uint64_t word : words_) {
    sum += ((word & 0xffffffffU) != 0 ? 1 : 0) + ((word >> 32) != 0 ? 1 : 0);
  }
  return sum;
}

AlignedBytes make_aligned(std::size_t bytes, std::size_t alignment) {
  const std::align_val_t at{alignment};
  return {static_cast<unsigned char*>(::operator new(bytes == 0 ? 1 : bytes, at)),
          AlignedDelete{at}};
}

void* Memory::allocate(std::size_t bytes, Space space, std::string name) {
  AlignedBytes content = make_aligned(bytes, 256);
  void* at = content.get();
  std::memset(at, 0xff, bytes);
  arrays_.emplace(reinterpret_cast<std::uintptr_t>(at),
                  Array(std::move(content), bytes, space, std::move(name)));
  return at;
}

void Memory::free(void* array) {
  if (array == nullptr) return;
  arrays_.erase(reinterpret_cast<std::uintptr_t>(array));
  last_ = arrays_.end();
}

Memory::Arrays::iterator Memory::find(const void* at, std::size_t bytes, std::size_t alignment,
                                      const char* what) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto inside = [&](Arrays::iterator it) {
    return it != arrays_.end() && address >= it->first &&
           (address - it->first < it->second.size || (bytes == 0 && address == it->first));
  };
  if (!inside(last_)) {
    last_ = arrays_.upper_bound(address);
    if (last_ != arrays_.begin()) --last_;
  }
  const std::string access = std::string(what) + " of " + std::to_string(bytes) + " bytes";
  if (!inside(last_)) {
    fail(access + " outside every array" +
         (last_ == arrays_.end() || address < last_->first
              ? ""
              : ": " + std::to_string(address - last_->first - last_->second.size) +
                    " bytes past the end of '" + last_->second.name + "'"));
  }
  const std::size_t offset = address - last_->first;
  if (offset + bytes > last_->second.size) {
    fail(access + " at offset " + std::to_string(offset) + " runs past the end of '" +
         last_->second.name + "' (" + std::to_string(last_->second.size) + " bytes)");
  }
  if (address % alignment != 0) {
    fail(access + " at offset " + std::to_string(offset) + " of '" + last_->second.name +
         "' is not aligned to " + std::to_string(alignment));
  }
  return last_;
}

void Memory::host_wrote(const void* at, std::size_t bytes) {
  if (bytes == 0) return;
  auto array = find(at, bytes, 1, "an upload");
  array->second.valid.add(reinterpret_cast<std::uintptr_t>(at) - array->first, bytes);
}

void Memory::poison(void* array) {
  auto found = find(array, 0, 1, "a poisoning");
  std::memset(array, 0xff, found->second.size);
  found->second.valid.clear();
}

Memory::Arrays::iterator Memory::find_read(const void* at, std::size_t bytes,
                                           std::size_t alignment) {
  const auto found = find(at, bytes, alignment, "a load");
  Array& array = found->second;
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) - found->first;
  if (!array.valid.holds(offset, bytes)) {
    fail("a load of " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
         " of '" + array.name + "' reads what nobody wrote");
  }
  array.read.add(offset, bytes);
  array.touched = true;
  traffic_.requested_bytes += static_cast<std::int64_t>(bytes);
  return found;
}

Memory::Arrays::iterator Memory::find_write(const void* at, std::size_t bytes,
                                            std::size_t alignment) {
  const auto found = find(at, bytes, alignment, "a store");
  Array& array = found->second;
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) - found->first;
  array.valid.add(offset, bytes);
  array.written.add(offset, bytes);
  array.touched = true;
  traffic_.requested_bytes += static_cast<std::int64_t>(bytes);
  return found;
}

void Memory::read(const void* at, std::size_t bytes, std::size_t alignment) {
  const OwnWork scope;
  find_read(at, bytes, alignment);
}

void Memory::read_only(const void* at, std::size_t bytes, std::size_t alignment) {
  const OwnWork scope;
  const auto found = find_read(at, bytes, alignment);
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) - found->first;
  if (found->second.written.meets(offset, bytes)) {
    fail("a load of the read-only path at offset " + std::to_string(offset) + " of '" +
         found->second.name + "' reads what this launch wrote (load_coherent may)");
  }
}

void Memory::write(const void* at, std::size_t bytes, std::size_t alignment) {
  const OwnWork scope;
  const auto found = find_write(at, bytes, alignment);
  Array& array = found->second;
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) - found->first;
  if (array.earlier.meets(offset, bytes)) {
    fail("two blocks of one launch store to offset " + std::to_string(offset) + " of '" +
         array.name + "'");
  }
  if (current_block() == nullptr) return;  // a copy of a stream, between launches
  if (!array.stores.empty() && array.stores.back().first + array.stores.back().count == offset) {
    array.stores.back().count += bytes;
  } else {
    array.stores.push_back({offset, bytes});
  }
}

void Memory::update(const void* at, std::size_t bytes, std::size_t alignment) {
  const OwnWork scope;
  find_read(at, bytes, alignment);
  find_write(at, bytes, alignment);
}

void Memory::end_of_block() {
  for (auto& [address, array] : arrays_) {
    for (const Array::Range& range : array.stores) array.earlier.add(range.first, range.count);
    array.stores.clear();
  }
}

void Memory::end_of_launch() {
  for (auto& [address, array] : arrays_) {
    if (!array.touched) continue;
    const bool device = array.space == Space::device;
    (device ? traffic_.read_bytes : traffic_.link_read_bytes) += array.read.bytes();
    (device ? traffic_.written_bytes : traffic_.link_written_bytes) += array.written.bytes();
    if (device) traffic_.read_sector_bytes += 32 * array.read.sectors();
    array.read.clear();
    array.written.clear();
    array.earlier.clear();
    array.stores.clear();
    array.touched = false;
  }
}

}  // namespace tiersim::emulator
