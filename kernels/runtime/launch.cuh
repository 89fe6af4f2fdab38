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

enum class Start {
  after_previous,
  early,  // with the end of the previous launch, where the card can (device/dependent_launch.cuh)
};

#if TS_ON_CARD
// Programmatic dependent launch exists from compute capability 9.0 on.
inline bool card_starts_early() {
  int device = 0;
  int major = 0;
  TS_CARD(cudaGetDevice(&device));
  TS_CARD(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9;
}
#endif

// Enqueues the kernel. Throws CardError where the card refuses the launch. On the emulator the
// kernel has run on return, and a mistake of it throws KernelFailure.
template <class... Parameters, class... Arguments>
void launch_at([[maybe_unused]] Start start, [[maybe_unused]] Stream& stream,
               void (*kernel)(Parameters...), const Geometry& geometry, Arguments&&... arguments) {
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
  cudaLaunchAttribute early{};
  if (start == Start::early && card_starts_early()) {
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = 1;
  }
  TS_CARD(cudaLaunchKernelEx(&config, kernel, Parameters(std::forward<Arguments>(arguments))...));
#else
  emulator::launch(kernel, geometry.grid, geometry.block, geometry.shared_bytes,
                   std::forward<Arguments>(arguments)...);
#endif
}

template <class... Parameters, class... Arguments>
void launch(Stream& stream, void (*kernel)(Parameters...), const Geometry& geometry,
            Arguments&&... arguments) {
  launch_at(Start::after_previous, stream, kernel, geometry, std::forward<Arguments>(arguments)...);
}

// For a kernel that calls wait_for_previous_launch().
template <class... Parameters, class... Arguments>
void launch_early(Stream& stream, void (*kernel)(Parameters...), const Geometry& geometry,
                  Arguments&&... arguments) {
  launch_at(Start::early, stream, kernel, geometry, std::forward<Arguments>(arguments)...);
}

}  // namespace tiersim::kernels
