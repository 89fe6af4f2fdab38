// Large inputs made by all processors, since time on a borrowed card is limited.
#pragma once
#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace tiersim::kernels {

// Calls work(first, last) for parts of [0, count) of at least `least`, several at once: a thread
// costs some 20 us. work must not throw, and must not write to what another part writes.
template <class Work>
void in_parallel(std::int64_t count, const Work& work, std::int64_t least = 1 << 20) {
  const std::int64_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t parts = std::clamp<std::int64_t>(count / least, 1, processors);
  std::vector<std::jthread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(
        [&work, part, parts, count] { work(count * part / parts, count * (part + 1) / parts); });
  }
  work(0, count / parts);
}

}  // namespace tiersim::kernels
