// Arrays in the memory of the card and in pinned host memory. New arrays are poison: 0xff in every
// byte, NaN in every float format. On the emulator a kernel that reads an unwritten byte fails.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/runtime/stream.cuh"

#if TS_ON_CARD
#include <sys/mman.h>
#endif

namespace tiersim::kernels {

// size() numbers of T in device memory; data() is for kernels only.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size, [[maybe_unused]] std::string name = "array")
      : size_(size) {
#if TS_ON_CARD
    TS_CARD(cudaMalloc(reinterpret_cast<void**>(&data_), bytes() == 0 ? 1 : bytes()));
    poison();
#else
    data_ = static_cast<T*>(
        emulator::machine().memory.allocate(bytes(), emulator::Space::device, std::move(name)));
#endif
  }
  explicit DeviceArray(const std::vector<T>& values, std::string name = "array")
      : DeviceArray(values.size(), std::move(name)) {
    upload(values);
  }
  ~DeviceArray() {
#if TS_ON_CARD
    cudaFree(data_);
#else
    emulator::machine().memory.free(data_);
#endif
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

  T* data() {
    return data_;
  }
  const T* data() const {
    return data_;
  }
  std::size_t size() const {
    return size_;
  }
  std::size_t bytes() const {
    return size_ * sizeof(T);
  }

  // values.size() must be size(); throws std::invalid_argument. Synchronous.
  void upload(const std::vector<T>& values) {
    if (values.size() != size_) throw std::invalid_argument("an upload of another size");
#if TS_ON_CARD
    TS_CARD(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
    settle();
#else
    if (!values.empty()) std::memcpy(data_, values.data(), bytes());
    emulator::machine().memory.host_wrote(data_, bytes());
#endif
  }
  std::vector<T> download() const {
    std::vector<T> values(size_);
#if TS_ON_CARD
    TS_CARD(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
#else
    if (size_ > 0) std::memcpy(values.data(), data_, bytes());
#endif
    return values;
  }
  void poison() {
#if TS_ON_CARD
    TS_CARD(cudaMemset(data_, 0xff, bytes()));
    settle();
#else
    emulator::machine().memory.poison(data_);
#endif
  }

 private:
#if TS_ON_CARD
  // A memset or a copy from pageable memory may return before the card has finished it, and our
  // streams do not wait for the legacy stream in which it runs.
  static void settle() {
    TS_CARD(cudaStreamSynchronize(cudaStreamLegacy));
  }
#endif

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Who allocates pinned memory: the driver, or the host, which is asked for pages of 2 MB before
// they are registered.
enum class HostPages { driver, huge };

// Pinned host memory that kernels reach over the link: host() for the host, device() for kernels.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t size, [[maybe_unused]] std::string name = "pinned array",
                       HostPages pages = HostPages::driver)
      : size_(size), pages_(pages) {
#if TS_ON_CARD
    if (pages_ == HostPages::huge) {
      allocate_huge();
    } else {
      TS_CARD(cudaHostAlloc(reinterpret_cast<void**>(&data_), bytes() == 0 ? 1 : bytes(),
                            cudaHostAllocMapped));
    }
    std::memset(static_cast<void*>(data_), 0xff, bytes());
#else
    data_ = static_cast<T*>(
        emulator::machine().memory.allocate(bytes(), emulator::Space::host, std::move(name)));
    emulator::machine().memory.host_wrote(data_, bytes());
#endif
  }
  ~PinnedArray() {
#if TS_ON_CARD
    if (pages_ == HostPages::huge) {
      cudaHostUnregister(data_);
      std::free(data_);
    } else {
      cudaFreeHost(data_);
    }
#else
    emulator::machine().memory.free(data_);
#endif
  }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  PinnedArray(PinnedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        pages_(other.pages_) {}

  T* host() {
    return data_;
  }
  const T* host() const {
    return data_;
  }
  T* device() {
    return data_;
  }  // unified addressing: one pointer for both
  const T* device() const {
    return data_;
  }
  std::size_t size() const {
    return size_;
  }
  std::size_t bytes() const {
    return size_ * sizeof(T);
  }

 private:
#if TS_ON_CARD
  void allocate_huge() {
    constexpr std::size_t kPage = std::size_t{2} << 20;
    const std::size_t whole = (bytes() + kPage - 1) / kPage * kPage;
    data_ = static_cast<T*>(std::aligned_alloc(kPage, whole));
    if (data_ == nullptr) throw std::bad_alloc();
    if (madvise(data_, whole, MADV_HUGEPAGE) != 0) {
      throw std::runtime_error("the host has no huge pages");
    }
    std::memset(static_cast<void*>(data_), 0,
                whole);  // asked for, not promised: pages may be small
    TS_CARD(cudaHostRegister(data_, whole, cudaHostRegisterMapped));
  }
#endif

  T* data_ = nullptr;
  std::size_t size_ = 0;
  HostPages pages_ = HostPages::driver;
};

}  // namespace tiersim::kernels
