// kernel<<<...>>> on both the card and the emulator.
#pragma once
#include <cstddef>
#include <utility>

#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

struct Geometry {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;  // dynamic; launch() requests more than 48 KB from the card
};

// Enqueues the kernel. Throws CardError where the card refuses the launch. On the emulator the
// kernel has run on return, and a mistake of it throws KernelFailure.
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
