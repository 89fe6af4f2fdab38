#pragma once
// Which process runs which points, where several processes share one sweep: a file beside the
// store, in lines of text that are only appended.
//
//   tiersim.claims/v1 DIGEST POINTS   the sweep
//   slot HOST                         a process joins; slots are numbered from 1
//   claim SLOT FIRST END              the slot runs these positions
//   take SLOT BY                      the process of slot BY goes on with a slot that was lost
//   done SLOT                         all claims of the slot are in its store
//   end                               nobody shall claim any more (--fail-fast)
//
// A process holds a lock of one byte for each of its slots, and one more for its turn to read and
// append. The kernel, or the server of a shared file system, releases the locks of a process that
// is gone: its slots are lost then, and a later turn of another process takes them. No clock
// decides this. Locks must reach across all machines; a process of another machine whose locks are
// free although it still changes its beat file is an error and is not taken over.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sim/sweep/point_claims.hpp"

namespace tiersim {

/// Errors are StoreError; those of lines that nobody has written so are DamagedStore.
class ClaimsFile {
 public:
  struct Slot {
    std::string host = {};
    std::size_t holder = 0;  ///< slot with which its process joined
    std::vector<PointRange> claims = {};
    bool done = false;
  };
  struct Contents {
    std::string digest = {};  ///< empty: no sweep has begun
    std::int64_t points = 0;
    std::int64_t next = 0;  ///< the first position that nobody has claimed
    bool ending = false;
    std::vector<Slot> slots = {};  ///< slot 1 first
  };
  /// A process beats so often. Another machine must see no beat in `silence` before it takes over;
  /// both times are measured by the clock of one machine each.
  struct Times {
    std::chrono::milliseconds beat{500};
    std::chrono::milliseconds silence{3000};
  };

  /// Opens the file, which is made if it is missing. `host`: this machine.
  ClaimsFile(std::filesystem::path path, std::string host, Times times);
  explicit ClaimsFile(std::filesystem::path path);
  ClaimsFile(const ClaimsFile&) = delete;
  ClaimsFile& operator=(const ClaimsFile&) = delete;
  /// Gives its slots up.
  ~ClaimsFile();

  /// Waits until no other process has its turn, and reads on. False if the file has been removed,
  /// since the run is over. All calls below need the turn.
  [[nodiscard]] bool lock();
  void unlock();

  const Contents& contents() const { return contents_; }
  /// True while another process has a slot.
  bool anyone();
  /// Forgets everything and begins a sweep.
  void begin(std::string_view digest, std::int64_t points);
  /// A slot for this process.
  std::size_t join();
  /// The next positions, at most `count`, for a slot of this process; nothing if none are left.
  std::optional<PointRange> claim(std::size_t slot, std::int64_t count);
  void finish(std::size_t slot);
  /// A slot of a process that is gone before its end, which is now this process's.
  std::optional<std::size_t> take_lost();
  bool all_done() const;
  void end();
  /// Gives the slots of this process up; others take those that are not done.
  void leave();
  /// Removes the file with everything that belongs to it.
  void remove();

  const Slot& slot(std::size_t number) const { return contents_.slots.at(number - 1); }

 private:
  bool try_lock(std::int64_t byte);
  void release(std::int64_t byte);
  bool is_locked(std::int64_t byte);
  bool is_current() const;
  void expect_last_line();
  void read_on();
  void read_line(const std::string& line);
  void append(const std::string& line);
  void expect_silence(std::size_t holder);
  std::string beat_of(std::size_t holder) const;
  std::filesystem::path beat_path(std::size_t holder) const;
  void beat(std::size_t holder) const;

  std::filesystem::path path_;
  std::string host_;
  Times times_;
  int file_ = -1;
  Contents contents_;
  std::int64_t read_ = 0;       // bytes
  std::int64_t last_at_ = 0;    // place of the line that this process wrote last
  std::string last_line_ = {};  // empty: none
  std::set<std::size_t> mine_;
  std::set<std::size_t> silent_;  // holders
  std::size_t self_ = 0;          // slot with which this process joined
  std::mutex beats_;
  std::condition_variable_any beats_end_;
  std::jthread beating_;  // last, since it uses the members above
};

}  // namespace tiersim
