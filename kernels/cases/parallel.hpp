// Large inputs made by all processors, since time on a borrowed card is limited.
#pragma once
#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace tiersim::kernels {

// Calls work(first, last) for parts of [0, count), several at once where the parts are large. work
// must not throw, and must not write to what another part writes.
template <class Work>
void in_parallel(std::int64_t count, const Work& work) {
  constexpr std::int64_t kLeast = 1 << 20;  // least size of a part: a thread costs some 20 us
  const std::int64_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t parts = std::clamp<std::int64_t>(count / kLeast, 1, processors);
  std::vector<std::jthread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(
        [&work, part, parts, count] { work(count * part / parts, count * (part + 1) / parts); });
  }
  work(0, count / parts);
}

}  // namespace tiersim::kernels
