// Common parts of the ceiling cases: arrays of 16 B units in device or host memory, their sums, and
// their names.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/inputs.hpp"
#include "kernels/cases/parallel.hpp"
#include "kernels/runtime/array.cuh"

namespace tiersim::kernels {

// 16 B units in device memory or in pinned host memory. Large ones repeat 4 MB of random words,
// each repetition plus its number, since drawing every word would take longer than timing it.
class Units {
 public:
  Units(std::int64_t bytes, bool pinned, std::uint64_t seed) : bytes_(bytes) {
    std::vector<uint4> values(static_cast<std::size_t>(bytes / 16));
    const std::size_t words = std::min(4 * values.size(), std::size_t{1} << 20);
    const std::vector<std::uint32_t> tile = random_words(words, seed);
    words_sum_.resize(values.size());
    in_parallel(
        static_cast<std::int64_t>(values.size()), [&](std::int64_t first, std::int64_t last) {
          for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
            const auto turn = static_cast<std::uint32_t>(4 * i / words);
            const std::uint32_t* word = tile.data() + 4 * i % words;
            values[i] = {word[0] + turn, word[1] + turn, word[2] + turn, word[3] + turn};
            words_sum_[i] = values[i].x + values[i].y + values[i].z + values[i].w;
          }
        });
    if (pinned) {
      pinned_ = std::make_unique<PinnedArray<uint4>>(values.size(), "units");
      if (bytes > 0) std::memcpy(pinned_->host(), values.data(), pinned_->bytes());
    } else {
      device_ = std::make_unique<DeviceArray<uint4>>(values, "units");
    }
  }

  const uint4* data() const { return pinned_ ? pinned_->device() : device_->data(); }
  std::int64_t units() const { return bytes_ / 16; }
  // Sum of the words of a unit, modulo 2^32.
  std::uint32_t sum(std::size_t unit) const { return words_sum_[unit]; }

 private:
  std::int64_t bytes_;
  std::unique_ptr<PinnedArray<uint4>> pinned_;
  std::unique_ptr<DeviceArray<uint4>> device_;
  std::vector<std::uint32_t> words_sum_;
};

// "64mb", "4kb", "96b": a size in powers of 1024, as in the name of a case.
inline std::string size_name(std::int64_t bytes) {
  if (bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + "mb";
  if (bytes % (1 << 10) == 0) return std::to_string(bytes >> 10) + "kb";
  return std::to_string(bytes) + "b";
}

}  // namespace tiersim::kernels
