#include "sim/sweep/claims_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/sweep/sqlite.hpp"

namespace tiersim {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kLayout = "tiersim.claims/v1";
// Bytes that are locked lie behind every line.
constexpr std::int64_t kTurn = std::int64_t{1} << 61;

std::int64_t byte_of(std::size_t slot) {
  return kTurn + static_cast<std::int64_t>(slot);
}

StoreError failed(const fs::path& path) {
  return StoreError(fmt::format("{}: {}", path.string(), std::generic_category().message(errno)));
}

StoreError without_locks(const fs::path& path) {
  return StoreError(
      fmt::format("{}: machines do not see each other's locks in this folder, so that they cannot "
                  "share a sweep there; --shard I/N and `tiersim merge` need no locks",
                  path.string()));
}

struct flock lock_of(std::int64_t byte, short type) {
  struct flock what = {};
  what.l_type = type;
  what.l_whence = SEEK_SET;
  what.l_start = byte;
  what.l_len = 1;
  return what;
}

// Names the machine until it starts again. Machines may share a name, but no boot id.
std::string this_host() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  if (in >> id) return id;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "host";
  return name.data();
}

}  // namespace

ClaimsFile::ClaimsFile(fs::path path) : ClaimsFile(std::move(path), this_host(), Times{}) {}

ClaimsFile::ClaimsFile(fs::path path, std::string host, Times times)
    : path_(std::move(path)), host_(std::move(host)), times_(times) {
  constexpr mode_t kMode = 0666;
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (file_ < 0) throw failed(path_);
}

ClaimsFile::~ClaimsFile() {
  if (beating_.joinable()) {
    beating_.request_stop();
    beating_.join();
  }
  ::close(file_);  // releases all locks
}

bool ClaimsFile::lock() {
  using std::chrono::milliseconds;
  constexpr milliseconds kLongest(100);
  // Asking again is faster than waiting: servers of files tell a client late that a lock is free.
  for (milliseconds wait(1); !try_lock(kTurn); wait = std::min(2 * wait, kLongest))
    std::this_thread::sleep_for(wait);
  if (!is_current()) {
    unlock();
    return false;
  }
  try {
    expect_last_line();
    read_on();
  } catch (...) {
    unlock();
    throw;
  }
  return true;
}

void ClaimsFile::unlock() {
  release(kTurn);
}

// The locks are of the open file, so that they end with it and not with another one of the process.
bool ClaimsFile::try_lock(std::int64_t byte) {
  struct flock what = lock_of(byte, F_WRLCK);
  if (::fcntl(file_, F_OFD_SETLK, &what) == 0) return true;
  if (errno == EAGAIN || errno == EACCES || errno == EINTR) return false;
  throw StoreError(fmt::format("{}: cannot be locked: {}", path_.string(),
                               std::generic_category().message(errno)));
}

void ClaimsFile::release(std::int64_t byte) {
  struct flock what = lock_of(byte, F_UNLCK);
  ::fcntl(file_, F_OFD_SETLK, &what);
}

bool ClaimsFile::is_locked(std::int64_t byte) {
  struct flock what = lock_of(byte, F_WRLCK);
  if (::fcntl(file_, F_OFD_GETLK, &what) != 0) throw failed(path_);
  return what.l_type != F_UNLCK;
}

bool ClaimsFile::is_current() const {
  struct stat opened = {};
  struct stat named = {};
  return ::fstat(file_, &opened) == 0 && ::stat(path_.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

// Two processes that had their turns at once, since locks do not work, write at the same place.
void ClaimsFile::expect_last_line() {
  if (last_line_.empty()) return;
  std::string there(last_line_.size(), '\0');
  const ssize_t count = ::pread(file_, there.data(), there.size(), last_at_);
  if (count < 0) throw failed(path_);
  if (there != last_line_) throw without_locks(path_);
}

void ClaimsFile::read_on() {
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const auto at = read_ + static_cast<std::int64_t>(text.size());
    const ssize_t count = ::pread(file_, part.data(), part.size(), at);
    if (count < 0) throw failed(path_);
    if (count == 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  // A process that was killed may leave a part of a line, which the next one overwrites.
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    read_line(text.substr(begin, end - begin));
    begin = end + 1;
  }
  read_ += static_cast<std::int64_t>(begin);
}

void ClaimsFile::read_line(const std::string& line) {
  std::istringstream in(line);
  std::string word;
  in >> word;
  std::size_t slot = 0;
  const auto read_slot = [&](std::size_t& number) {
    return static_cast<bool>(in >> number) && number >= 1 && number <= contents_.slots.size();
  };
  bool ok = false;
  if (contents_.digest.empty()) {
    ok = word == kLayout && in >> contents_.digest >> contents_.points;
  } else if (word == "slot") {
    Slot next{.host = {}, .holder = contents_.slots.size() + 1};
    ok = static_cast<bool>(in >> next.host);
    contents_.slots.push_back(std::move(next));
  } else if (word == "claim") {
    PointRange range;
    ok = read_slot(slot) && in >> range.first >> range.end && range.first == contents_.next &&
         range.end > range.first && range.end <= contents_.points;
    if (ok) contents_.slots[slot - 1].claims.push_back(range);
    if (ok) contents_.next = range.end;
  } else if (word == "take") {
    std::size_t by = 0;
    ok = read_slot(slot) && read_slot(by);
    if (ok) contents_.slots[slot - 1].holder = by;
  } else if (word == "done") {
    ok = read_slot(slot);
    if (ok) contents_.slots[slot - 1].done = true;
  } else if (word == "end") {
    ok = contents_.ending = true;
  }
  if (!ok)
    throw DamagedStore(
        fmt::format("{}: the line '{}' is damaged; end the processes of this sweep, remove the "
                    "file, and go on with --resume",
                    path_.string(), line));
}

void ClaimsFile::append(const std::string& line) {
  struct stat status = {};
  if (::fstat(file_, &status) != 0) throw failed(path_);
  if (status.st_size > read_ && ::ftruncate(file_, read_) != 0) throw failed(path_);
  const std::string text = line + '\n';
  const ssize_t count = ::pwrite(file_, text.data(), text.size(), read_);
  if (count < 0) throw failed(path_);
  if (static_cast<std::size_t>(count) != text.size()) {
    errno = ENOSPC;
    throw failed(path_);
  }
  last_at_ = read_;
  last_line_ = text;
  read_on();
}

bool ClaimsFile::anyone() {
  const std::vector<Slot>& slots = contents_.slots;
  for (std::size_t number = 1; number <= slots.size(); ++number)
    if (!mine_.contains(number) && is_locked(byte_of(number))) return true;
  for (const Slot& slot : slots) expect_silence(slot.holder);
  return false;
}

void ClaimsFile::begin(std::string_view digest, std::int64_t points) {
  for (std::size_t number = 1; number <= contents_.slots.size(); ++number)
    fs::remove(beat_path(number));
  contents_ = {};
  read_ = 0;
  append(fmt::format("{} {} {}", kLayout, digest, points));
}

std::size_t ClaimsFile::join() {
  TS_EXPECTS(self_ == 0, self_);
  append(fmt::format("slot {}", host_));
  self_ = contents_.slots.size();
  mine_.insert(self_);
  if (!try_lock(byte_of(self_))) throw without_locks(path_);
  std::ofstream(beat_path(self_)) << "0\n";
  beating_ = std::jthread([this](const std::stop_token& stop) {
    std::unique_lock guard(beats_);
    while (!beats_end_.wait_for(guard, stop, times_.beat, [&] { return stop.stop_requested(); }))
      beat(self_);
  });
  return self_;
}

std::optional<PointRange> ClaimsFile::claim(std::size_t slot, std::int64_t count) {
  TS_EXPECTS(mine_.contains(slot) && count > 0, slot, count);
  const std::int64_t first = contents_.next;
  const std::int64_t end = first + std::min(count, contents_.points - first);
  if (first == end || contents_.ending) return std::nullopt;
  append(fmt::format("claim {} {} {}", slot, first, end));
  return PointRange{first, end};
}

void ClaimsFile::finish(std::size_t slot) {
  append(fmt::format("done {}", slot));
}

std::optional<std::size_t> ClaimsFile::take_lost() {
  for (std::size_t number = 1; number <= contents_.slots.size(); ++number) {
    if (slot(number).done || mine_.contains(number) || !try_lock(byte_of(number))) continue;
    expect_silence(slot(number).holder);
    append(fmt::format("take {} {}", number, self_));
    mine_.insert(number);
    return number;
  }
  return std::nullopt;
}

bool ClaimsFile::all_done() const {
  return contents_.next == contents_.points &&
         std::ranges::all_of(contents_.slots, [](const Slot& slot) { return slot.done; });
}

void ClaimsFile::end() {
  append("end");
}

void ClaimsFile::leave() {
  for (const std::size_t number : mine_) release(byte_of(number));
  mine_.clear();
}

void ClaimsFile::remove() {
  if (beating_.joinable()) {
    beating_.request_stop();
    beating_.join();
  }
  std::error_code ignored;  // what is left is in the way of nobody
  for (std::size_t number = 1; number <= contents_.slots.size(); ++number)
    fs::remove(beat_path(number), ignored);
  fs::remove(path_);
}

fs::path ClaimsFile::beat_path(std::size_t holder) const {
  return fs::path(path_.string() + fmt::format(".beat{}", holder));
}

// Opened anew each time, so that another machine's next open sees it. Who ends the run removes it.
void ClaimsFile::beat(std::size_t holder) const {
  std::fstream out(beat_path(holder), std::ios::in | std::ios::out);
  out << std::chrono::steady_clock::now().time_since_epoch().count() << '\n';
}

std::string ClaimsFile::beat_of(std::size_t holder) const {
  std::ifstream in(beat_path(holder));
  std::string text;
  in >> text;
  return text;
}

// On this machine the kernel knows who is gone. One last beat of another may come late.
void ClaimsFile::expect_silence(std::size_t holder) {
  if (slot(holder).host == host_ || !silent_.insert(holder).second) return;
  std::string last = beat_of(holder);
  int beats = 0;
  const auto until = std::chrono::steady_clock::now() + times_.silence;
  while (std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(times_.beat / 4);
    std::string now = beat_of(holder);
    if (now.empty() || now == last) continue;  // empty: being written
    last = std::move(now);
    if (++beats > 1) throw without_locks(path_);
  }
}

}  // namespace tiersim
