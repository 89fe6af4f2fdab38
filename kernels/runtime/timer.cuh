// Time between two marks of a stream: by device events on a card (resolution .5 us, CUDA runtime
// API, cudaEventElapsedTime), and by the host's clock on the emulator, where it is no time of any
// device.
#pragma once
#include <chrono>

#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

class Timer {
 public:
#if TS_ON_CARD
  Timer() {
    TS_CARD(cudaEventCreate(&first_));
    TS_CARD(cudaEventCreate(&last_));
  }
  ~Timer() {
    cudaEventDestroy(first_);
    cudaEventDestroy(last_);
  }
  void start(Stream& stream) {
    TS_CARD(cudaEventRecord(first_, stream.native()));
  }
  void stop(Stream& stream) {
    TS_CARD(cudaEventRecord(last_, stream.native()));
  }
  double nanoseconds() {  // waits for the second mark
    TS_CARD(cudaEventSynchronize(last_));
    float milliseconds = 0;
    TS_CARD(cudaEventElapsedTime(&milliseconds, first_, last_));
    return static_cast<double>(milliseconds) * 1e6;
  }
#else
  Timer() = default;
  ~Timer() = default;
  void start(Stream&) {
    first_ = std::chrono::steady_clock::now();
  }
  void stop(Stream&) {
    last_ = std::chrono::steady_clock::now();
  }
  double nanoseconds() const {
    return std::chrono::duration<double, std::nano>(last_ - first_).count();
  }
#endif
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
#if TS_ON_CARD
  cudaEvent_t first_ = nullptr;
  cudaEvent_t last_ = nullptr;
#else
  std::chrono::steady_clock::time_point first_, last_;
#endif
};

}  // namespace tiersim::kernels
