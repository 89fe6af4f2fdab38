// kernel<<<...>>> for both the card and the emulator.
#pragma once
#include <cstddef>
#include <utility>

#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

struct Geometry {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;  // dynamic; more than 48 KB is asked of the card as needed
};

// Enqueues the kernel. Throws CardError where the launch is refused; on the emulator it has run
// when this returns, and KernelFailure says what it did wrong.
template <class... Parameters, class... Arguments>
void launch([[maybe_unused]] Stream& stream, void (*kernel)(Parameters...),
            const Geometry& geometry, Arguments&&... arguments) {
#if TS_ON_CARD
  if (geometry.shared_bytes > 48 * 1024) {
    TS_CARD(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(geometry.shared_bytes)));
  }
  cudaLaunchConfig_t config{};
  config.gridDim = geometry.grid;
  config.blockDim = geometry.block;
  config.dynamicSmemBytes = geometry.shared_bytes;
  config.stream = stream.native();
  TS_CARD(cudaLaunchKernelEx(&config, kernel, Parameters(std::forward<Arguments>(arguments))...));
#else
  emulator::launch(kernel, geometry.grid, geometry.block, geometry.shared_bytes,
                   std::forward<Arguments>(arguments)...);
#endif
}

}  // namespace tiersim::kernels
