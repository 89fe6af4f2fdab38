// Annotations for the sanitizers: the running stack, and the ordering of memory between threads.
// Every function is empty in a build without a sanitizer.
//
// Happens-before for ThreadSanitizer: switches of fibers do not order memory. There are edges only
// where CUDA's memory model has them: block and named barriers, __syncwarp, transaction barriers,
// waits for asynchronous copies. A shuffle or a ballot orders nothing.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_THREAD__)
#define TS_EMULATOR_TSAN 1
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TS_EMULATOR_ASAN 1
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(TS_EMULATOR_TSAN)
#define TS_EMULATOR_TSAN 1
#endif
#if __has_feature(address_sanitizer) && !defined(TS_EMULATOR_ASAN)
#define TS_EMULATOR_ASAN 1
#endif
#endif
#if !defined(TS_EMULATOR_TSAN)
#define TS_EMULATOR_TSAN 0
#endif
#if !defined(TS_EMULATOR_ASAN)
#define TS_EMULATOR_ASAN 0
#endif

#if TS_EMULATOR_TSAN
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char*, int);
void AnnotateIgnoreReadsEnd(const char*, int);
void AnnotateIgnoreWritesBegin(const char*, int);
void AnnotateIgnoreWritesEnd(const char*, int);
}
#endif
#if TS_EMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Marks a function whose own reads and writes ThreadSanitizer must not see.
#if defined(__clang__)
#define TS_EMULATOR_UNSEEN __attribute__((disable_sanitizer_instrumentation))
#else
#define TS_EMULATOR_UNSEEN __attribute__((no_sanitize("thread")))
#endif

namespace tiersim::emulator {

// Within this scope, bookkeeping of the emulator is hidden from the sanitizers.
class OwnWork {
 public:
#if TS_EMULATOR_TSAN
  OwnWork() {
    AnnotateIgnoreReadsBegin("", 0);
    AnnotateIgnoreWritesBegin("", 0);
  }
  ~OwnWork() {
    AnnotateIgnoreWritesEnd("", 0);
    AnnotateIgnoreReadsEnd("", 0);
  }
#else
  OwnWork() {}
  ~OwnWork() {}
#endif
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
};

// Within an OwnWork: hardware accesses for the kernel are visible again.
class HardwareWork {
 public:
#if TS_EMULATOR_TSAN
  HardwareWork() {
    AnnotateIgnoreWritesEnd("", 0);
    AnnotateIgnoreReadsEnd("", 0);
  }
  ~HardwareWork() {
    AnnotateIgnoreReadsBegin("", 0);
    AnnotateIgnoreWritesBegin("", 0);
  }
#else
  HardwareWork() {}
  ~HardwareWork() {}
#endif
  HardwareWork(const HardwareWork&) = delete;
  HardwareWork& operator=(const HardwareWork&) = delete;
};

#if TS_EMULATOR_TSAN
inline void release(void* tag) {
  __tsan_release(tag);
}
inline void acquire(void* tag) {
  __tsan_acquire(tag);
}
#else
inline void release(void*) {}
inline void acquire(void*) {}
#endif

// Makes a read by the hardware for this thread (ldmatrix, wgmma) visible.
inline void show_read([[maybe_unused]] const void* from, [[maybe_unused]] std::size_t bytes) {
#if TS_EMULATOR_TSAN || TS_EMULATOR_ASAN
  const volatile unsigned char* byte = static_cast<const volatile unsigned char*>(from);
  for (std::size_t i = 0; i < bytes; ++i) static_cast<void>(byte[i]);
#endif
}

}  // namespace tiersim::emulator
