// Copies and host work in a stream: by the copy engine on a card, and on the emulator by a memcpy
// that is checked and counted like the accesses of kernels.
#pragma once
#include <cstring>
#include <functional>

#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

// Copies between device arrays and pinned arrays in any direction. Both must live until it has run.
inline void copy(Stream& stream, void* to, const void* from, std::size_t bytes) {
#if TS_ON_CARD
  TS_CARD(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.native()));
#else
  static_cast<void>(stream);
  emulator::machine().memory.read(from, bytes, 1);
  emulator::machine().memory.write(to, bytes, 1);
  std::memcpy(to, from, bytes);
  emulator::machine().memory.end_of_launch();
#endif
}

// Runs work on the host when the stream reaches it. The work must not call CUDA, and must stay
// alive and in place until then. Each replay of a graph runs it again.
inline void host_work(Stream& stream, std::function<void()>& work) {
#if TS_ON_CARD
  TS_CARD(cudaLaunchHostFunc(
      stream.native(), [](void* data) { (*static_cast<std::function<void()>*>(data))(); }, &work));
#else
  static_cast<void>(stream);
  work();
#endif
}

}  // namespace tiersim::kernels
