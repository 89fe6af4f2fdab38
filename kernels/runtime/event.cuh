// A mark in a stream that another stream waits for. It does nothing on the emulator, which runs
// each launch at once and thus in the order of the calls.
#pragma once
#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

class Event {
 public:
#if TS_ON_CARD
  Event() {
    TS_CARD(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  ~Event() {
    cudaEventDestroy(event_);
  }
  void record(Stream& stream) {
    TS_CARD(cudaEventRecord(event_, stream.native()));
  }
  // Work enqueued on the stream after this call runs after the mark.
  void hold(Stream& stream) {
    TS_CARD(cudaStreamWaitEvent(stream.native(), event_, 0));
  }
#else
  Event() = default;
  ~Event() = default;
  void record(Stream&) {}
  void hold(Stream&) {}
#endif
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

 private:
#if TS_ON_CARD
  cudaEvent_t event_ = nullptr;
#endif
};

}  // namespace tiersim::kernels
