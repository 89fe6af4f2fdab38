#include "sim/cli/figure_file.hpp"

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/gnuplot.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw Failure(ExitCode::usage,
                printable(fmt::format("tiersim: error: --figure: '{}' {}", path, problem)));
}

}  // namespace

void expect_figure(const std::string& path, const std::vector<std::string>& sources) {
  if (path.empty()) return;
  expect_not_a_source(path, sources);
  const bool pdf = path.ends_with(".pdf");
  if (path != "-" && !path.ends_with(".svg") && !pdf)
    refuse(path, "does not end in .svg or .pdf, which are what is drawn");
  if (pdf && !find_program("rsvg-convert"))
    refuse(path, "needs the program rsvg-convert (librsvg2-bin); a name in .svg does not");
  expect_writable(path);
}

void write_figure(const std::string& path, const std::string& svg) {
  if (path.empty()) return;
  if (!path.ends_with(".pdf"))
    write_file(path, svg);
  else if (!convert_svg_text(svg, path))
    throw Failure(ExitCode::internal,
                  printable(fmt::format("tiersim: rsvg-convert failed; {} is not written", path)));
  if (path != "-") fmt::print(stderr, "tiersim: wrote {}\n", printable(path));
}

}  // namespace tiersim::cli
