// Large inputs made by all processors, since time on a borrowed card is limited.
#pragma once
#include <algorithm>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

namespace tiersim::kernels {

// Calls work(first, last) for parts of [0, count) of at least `least`, several at once: a thread
// costs some 20 us. work must not write to what another part writes. Throws what a part has thrown.
template <class Work>
void in_parallel(std::int64_t count, const Work& work, std::int64_t least = 1 << 20) {
  const std::int64_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t parts = std::clamp<std::int64_t>(count / least, 1, processors);
  std::vector<std::future<void>> others;
  for (std::int64_t part = 1; part < parts; ++part) {
    others.push_back(std::async(std::launch::async, [&work, part, parts, count] {
      work(count * part / parts, count * (part + 1) / parts);
    }));
  }
  work(0, count / parts);
  for (std::future<void>& other : others) other.get();
}

// Large random inputs repeat their first numbers, since drawing all takes longer than timing them.
// A prime, so that rows do not repeat.
constexpr std::int64_t kRepeatedAfter = 1'048'573;

// Fills values from `drawn` on with the numbers before, again and again.
template <class T>
void repeat(std::vector<T>& values, std::int64_t drawn) {
  const auto more = static_cast<std::int64_t>(values.size()) - drawn;
  in_parallel(more, [&values, drawn](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last;) {
      const std::int64_t from = i % drawn;
      const std::int64_t count = std::min(drawn - from, last - i);
      std::copy_n(values.begin() + from, count, values.begin() + drawn + i);
      i += count;
    }
  });
}

}  // namespace tiersim::kernels
