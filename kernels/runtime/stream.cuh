// An ordered queue of launches. On a card a CUDA stream; on the emulator everything runs at once.
#pragma once
#include <stdexcept>
#include <string>

#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

// A call of the CUDA runtime that failed, with the reason.
class CardError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

#if TS_ON_CARD
inline void check_card(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    throw CardError(std::string(call) + ": " + cudaGetErrorName(status) + ": " +
                    cudaGetErrorString(status));
  }
}
#define TS_CARD(call) ::tiersim::kernels::check_card(call, #call)
#endif

class Stream {
 public:
#if TS_ON_CARD
  Stream() {
    TS_CARD(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Stream() {
    cudaStreamDestroy(stream_);
  }
  void synchronize() {
    TS_CARD(cudaStreamSynchronize(stream_));
  }
  cudaStream_t native() const {
    return stream_;
  }
#else
  Stream() = default;
  ~Stream() = default;
  void synchronize() {}
#endif
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

 private:
#if TS_ON_CARD
  cudaStream_t stream_ = nullptr;
#endif
};

}  // namespace tiersim::kernels
