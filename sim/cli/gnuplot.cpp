#include "sim/cli/gnuplot.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <future>
#include <system_error>

#include <fmt/format.h>

#include "reports/render/gnuplot_script.hpp"
#include "sim/base/text.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

// Runs a program without a shell and without output: the arguments are ours, and warnings about a
// correct script do not help the user. Returns its exit status, or 127.
int run(const fs::path& program, const std::vector<std::string>& arguments,
        const fs::path& folder) {
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int started =
      ::posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), ::environ);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0) return 127;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

// cairo writes the date of a PDF's creation; a replacement of the same length keeps its offsets.
void set_date(std::string& pdf) {
  constexpr std::string_view kKey = "/CreationDate (D:";
  constexpr std::string_view kDate = "19800101000000";
  const std::size_t at = pdf.find(kKey);
  if (at == std::string::npos || at + kKey.size() + kDate.size() > pdf.size()) return;
  pdf.replace(at + kKey.size(), kDate.size(), kDate);
}

// A temporary folder, removed with its files.
class Scratch {
 public:
  explicit Scratch(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

DrawnFigure drawn(const Figure& figure, const fs::path& gnuplot, const fs::path& scratch,
                  const fs::path& folder) {
  DrawnFigure out{.figure = figure};
  for (const ReportFile& file : gnuplot_files(figure)) write_file(scratch / file.name, file.text);
  // -d: without the start-up files of this user or machine.
  const int status = run(gnuplot, {"-d", figure.stem + ".gp"}, scratch);
  const fs::path svg = scratch / (figure.stem + ".svg");
  const fs::path pdf = scratch / (figure.stem + ".pdf");
  if (status != 0 || !fs::exists(svg) || !fs::exists(pdf)) {
    out.problem = fmt::format("gnuplot failed (status {}): run `gnuplot {}.gp` in {} to see why",
                              status, figure.stem, folder.string());
    return out;
  }
  out.svg = read_file(svg);
  write_file(folder / svg.filename(), out.svg);
  std::string text = read_file(pdf);
  set_date(text);
  write_file(folder / pdf.filename(), text);
  return out;
}

}  // namespace

std::optional<fs::path> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path candidate = fs::path(folders.substr(at, end - at)) / name;
    std::error_code error;
    if (candidate.is_absolute() && fs::is_regular_file(candidate, error) &&
        ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
    at = end + 1;
  }
  return std::nullopt;
}

std::vector<DrawnFigure> draw(const std::vector<Figure>& figures, const fs::path& folder) {
  const std::optional<fs::path> gnuplot = find_program("gnuplot");
  for (const Figure& figure : figures)
    for (const ReportFile& file : gnuplot_files(figure)) write_file(folder / file.name, file.text);
  if (!gnuplot) {
    std::vector<DrawnFigure> out;
    for (const Figure& figure : figures)
      out.push_back({.figure = figure,
                     .problem = fmt::format("not drawn: there is no gnuplot here; install "
                                            "gnuplot-nox and run `gnuplot {}.gp`",
                                            figure.stem)});
    return out;
  }
  const Scratch scratch(folder / fmt::format(".drawing{}", ::getpid()));
  std::vector<std::future<DrawnFigure>> running;
  std::vector<DrawnFigure> out;
  // A few at a time, since each is a process.
  constexpr std::size_t kAtOnce = 4;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    running.push_back(std::async(std::launch::async, [&, i] {
      return drawn(figures[i], *gnuplot, scratch.path(), folder);
    }));
    if (running.size() < kAtOnce) continue;
    out.push_back(running.front().get());
    running.erase(running.begin());
  }
  for (std::future<DrawnFigure>& one : running) out.push_back(one.get());
  return out;
}

bool convert_svg(const fs::path& svg, const fs::path& pdf) {
  return convert_svg_text(read_file(svg), pdf);
}

bool convert_svg_text(const std::string& svg, const fs::path& pdf) {
  const std::optional<fs::path> converter = find_program("rsvg-convert");
  if (!converter) return false;
  const Scratch scratch(pdf.parent_path() / fmt::format(".converting{}", ::getpid()));
  const fs::path made = scratch.path() / "made.pdf";
  write_file(scratch.path() / "made.svg", svg);
  if (run(*converter, {"-f", "pdf", "-o", "made.pdf", "made.svg"}, scratch.path()) != 0)
    return false;
  std::string text = read_file(made);
  set_date(text);
  write_file(pdf, text);
  return true;
}

}  // namespace tiersim::cli
