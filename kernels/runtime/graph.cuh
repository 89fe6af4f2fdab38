// A sequence of launches captured once and replayed as a whole, so that a replay costs one launch.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

// On a card this is a CUDA graph, whose nodes depend on each other in stream order. On the emulator
// it is the recording itself, which runs at each replay.
class Graph {
 public:
  // record() enqueues on the given stream, and on others that it forks from and joins to it by
  // events (runtime/event.cuh). It must not synchronise or allocate. Throws CardError where
  // something cannot be captured.
  explicit Graph(std::function<void(Stream&)> record) {
#if TS_ON_CARD
    Stream stream;
    // Relaxed, since the first launch of a kernel may load modules during the capture.
    TS_CARD(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeRelaxed));
    cudaGraph_t graph = nullptr;
    try {
      record(stream);
    } catch (...) {
      cudaStreamEndCapture(stream.native(), &graph);
      cudaGraphDestroy(graph);
      throw;
    }
    TS_CARD(cudaStreamEndCapture(stream.native(), &graph));
    const cudaError_t made = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check_card(made, "cudaGraphInstantiate");
#else
    record_ = std::move(record);
#endif
  }
  ~Graph() {
#if TS_ON_CARD
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
#endif
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void replay(Stream& stream) {
#if TS_ON_CARD
    TS_CARD(cudaGraphLaunch(executable_, stream.native()));
#else
    record_(stream);
#endif
  }

 private:
#if TS_ON_CARD
  cudaGraphExec_t executable_ = nullptr;
#else
  std::function<void(Stream&)> record_;
#endif
};

}  // namespace tiersim::kernels
