// Ends the process when a case takes too long, since a kernel that waits forever cannot be stopped.
// The stage's file names the case (StageFile::begin).
#pragma once
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace tiersim::kernels::bench {

constexpr int kExitHung = 75;  // "try again", sysexits.h

class Watchdog {
 public:
  explicit Watchdog(double seconds)
      : thread_([this, seconds] {
          std::unique_lock lock(mutex_);
          if (woken_.wait_for(lock, std::chrono::duration<double>(seconds),
                              [this] { return done_; })) {
            return;
          }
          std::fprintf(stderr, "no end after %.0f s\n", seconds);
          _exit(kExitHung);
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    woken_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable woken_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace tiersim::kernels::bench
