// Launches a kernel on the emulated card, and the card itself: its memory and options.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "kernels/emulator/block.hpp"
#include "kernels/emulator/sanitizer.hpp"

namespace tiersim::emulator {

// A card of this host thread, like the current device of CUDA.
struct Machine {
  Options options;
  Memory memory;
  std::uint64_t switches = 0;                   // of fibers, over all launches
  std::size_t shared_bytes_limit = 227 * 1024;  // of a block on sm_90
  std::unique_ptr<StackPool> stacks;            // kept from launch to launch
};
Machine& machine();

// Counts arithmetic of a kernel.
inline void count_multiply_adds(std::int64_t count) {
  const OwnWork scope;
  machine().memory.count().multiply_adds += count;
}
inline void count_dot_multiply_adds(std::int64_t count) {
  const OwnWork scope;
  machine().memory.count().dot_multiply_adds += count;
}

// Runs every block of the grid, one after the other; throws KernelFailure.
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& kernel);

// kernel<<<grid, block, shared_bytes>>>(arguments...)
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            Arguments&&... arguments) {
  std::tuple<std::remove_cv_t<Parameters>...> bound(std::forward<Arguments>(arguments)...);
  run_grid(grid, block, shared_bytes, [&] { std::apply(kernel, bound); });
}

}  // namespace tiersim::emulator
