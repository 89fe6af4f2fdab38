#include "sim/runner/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/file_text.hpp"
#include "sim/base/text.hpp"
#include "sim/runner/failure.hpp"

namespace tiersim {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& what, const fs::path& path, const std::string& reason) {
  throw Failure(ExitCode::usage, printable(fmt::format("tiersim: error: cannot {} '{}': {}", what,
                                                       path.string(), reason)));
}

std::string last_error() {
  return std::generic_category().message(errno);
}

// Recognised by the first bytes, as SQLite does itself: users name stores freely.
bool is_sqlite(const fs::path& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;  // reading a pipe would consume its data
  std::ifstream in(path, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return in && begin == kMagic;
}

// Mode bits that this process leaves to new files.
mode_t mode_of_new_files() {
  constexpr mode_t kAll = 0666;
  static const mode_t mask = [] {  // once, since no other way of asking leaves it as it is
    const mode_t was = ::umask(0);
    ::umask(was);
    return was;
  }();
  return kAll & ~mask;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Writes a new file beside `path` and returns its name.
fs::path write_beside(const fs::path& path, const std::string& text) {
  const NewFile file = open_beside(path);
  if (file.descriptor < 0) fail("write", path, last_error());
  const bool written = write_all(file.descriptor, text);
  const int code = errno;
  const bool closed = ::close(file.descriptor) == 0;
  if (written && closed) return file.path;
  const std::string reason = std::generic_category().message(written ? errno : code);
  std::error_code ignored;
  fs::remove(file.path, ignored);
  fail("write", path, reason);
}

}  // namespace

fs::path config_root() {
  if (const char* set = std::getenv("TIERSIM_CONFIGS"); set != nullptr && *set != '\0') {
    if (!fs::is_directory(set))
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: TIERSIM_CONFIGS is no folder: '{}'", set));
    return set;
  }
  std::error_code error;
  for (fs::path at = fs::read_symlink("/proc/self/exe", error).parent_path(); !at.empty();
       at = at.parent_path()) {
    for (const char* candidate : {"configs", "share/tiersim/configs"})
      if (fs::is_directory(at / candidate / "scenarios", error)) return at / candidate;
    if (at == at.parent_path()) break;
  }
  throw Failure(ExitCode::usage,
                "tiersim: error: the shipped configurations are not found above the program; set "
                "TIERSIM_CONFIGS to their folder");
}

fs::path targets_root() {
  const fs::path root = config_root().parent_path();
  std::error_code error;
  for (const char* candidate : {"reports/targets", "targets"})
    if (fs::is_directory(root / candidate, error)) return root / candidate;
  throw Failure(ExitCode::usage, fmt::format("tiersim: error: no paper targets beside '{}'",
                                             config_root().string()));
}

std::string read_file(const fs::path& path) {
  auto text = file_text(path);
  if (!text) fail("read", path, text.error());
  return *std::move(text);
}

void expect_writable(const fs::path& path) {
  if (path.empty() || path == "-") return;
  std::error_code error;
  if (fs::is_directory(path, error)) fail("write", path, "is a folder");
  const fs::path folder = path.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error))
    fail("write", path, fmt::format("there is no folder '{}'", folder.string()));
}

void expect_not_a_source(const fs::path& path, const std::vector<std::string>& sources) {
  if (path.empty() || path == "-") return;
  std::error_code error;
  const auto same = [&](const std::string& source) { return fs::equivalent(path, source, error); };
  for (const std::string& source : sources)
    if (same(source) || same(source.substr(0, source.rfind(':'))))
      fail("write", path, "it is one of the files that are read; give another name");
  if (is_sqlite(path))
    fail("write", path,
         "it is a database, such as a store of sweeps, which would be lost; give another name, or "
         "remove it first");
}

NewFile open_beside(const fs::path& path) {
  const std::string random(6, 'X');  // mkostemp replaces these
  std::string name = path.string() + '.' + random;
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) static_cast<void>(::fchmod(file, mode_of_new_files()));
  return {file, name};
}

void write_file(const fs::path& path, const std::string& text) {
  if (path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      throw std::system_error(errno, std::generic_category());  // like fmt::print
    return;
  }
  expect_not_a_source(path);  // for callers that did not check before the work
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) fail("create the folder of", path, error.message());
  // A device or pipe (/dev/null) is written in place: a rename would replace it.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    if (!(out << text) || !out.flush()) fail("write", path, last_error());
    return;
  }
  const fs::path temporary = write_beside(path, text);
  fs::rename(temporary, path, error);
  if (!error) return;
  const std::string reason = error.message();
  fs::remove(temporary, error);
  fail("write", path, reason);
}

}  // namespace tiersim
