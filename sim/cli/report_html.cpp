// tiersim report html SOURCE... -o F.html: one self-contained page.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "reports/html/points_page.hpp"
#include "sim/base/text.hpp"
#include "sim/base/version.hpp"
#include "sim/cli/point_metrics.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/report_kinds.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct HtmlArguments {
  SourceOptions sources;
  std::string output;
  std::string title;
  std::string x;
  std::string y;
  std::string by;
  std::string panel;
  std::size_t rows_max = 200;
  bool still = false;  ///< without Vega, even if it is available
};

// The bundle that the build fetched: TIERSIM_VEGA_BUNDLE, else share/tiersim/vega.js in a folder
// above the program. Empty if there is none.
fs::path vega_bundle() {
  if (const char* set = std::getenv("TIERSIM_VEGA_BUNDLE"); set != nullptr && *set != '\0') {
    if (!fs::is_regular_file(set))
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: TIERSIM_VEGA_BUNDLE is no file: '{}'", set));
    return set;
  }
  std::error_code error;
  for (fs::path at = fs::read_symlink("/proc/self/exe", error).parent_path(); !at.empty();
       at = at.parent_path()) {
    if (fs::path bundle = at / "share/tiersim/vega.js"; fs::is_regular_file(bundle, error))
      return bundle;
    if (at == at.parent_path()) break;
  }
  return {};
}

ChartChoice choice_of(const HtmlArguments& options, const PointTable& table) {
  ChartChoice out;
  const auto column = [&](const std::string& name, const char* option) {
    return name.empty() ? std::nullopt : std::optional(column_of(table, name, option));
  };
  out.x = column(options.x, "--x");
  if (out.x && !table.columns[*out.x].numeric)
    throw Failure(
        ExitCode::usage,
        printable(fmt::format("tiersim: error: --x: '{}' is no numeric column", options.x)));
  out.by = column(options.by, "--by");
  out.panel = column(options.panel, "--panel");
  if (!options.y.empty()) out.metric = metric_of_points(table, options.y, "--y");
  return out;
}

ExitCode report(const HtmlArguments& options) {
  expect_writable(options.output);
  expect_not_a_source(options.output, options.sources.sources);
  if (!options.y.empty()) full_metric(options.y, "--y");
  SourceOptions sources = options.sources;
  sources.limits = true;
  PointTable table = load_points(sources);
  if (table.points.empty())
    throw Failure(ExitCode::usage, "tiersim: error: there is no point to report");
  if (!options.title.empty()) table.title = options.title;
  PointsPage page{.version = std::string(kVersion),
                  .rows_max = options.rows_max,
                  .choice = choice_of(options, table)};
  const fs::path bundle = options.still ? fs::path() : vega_bundle();
  if (!bundle.empty()) page.vega = read_file(bundle);
  const std::string html = points_page(table, page);
  write_file(options.output, html);
  const std::string of =
      table.whole ? fmt::format(" of {} (--points N shows more)", table.whole->points) : "";
  fmt::print(stderr, "{}: {} points{}, {:.1f} MB{}\n", options.output, table.points.size(), of,
             static_cast<double>(html.size()) / 1e6,
             options.still || !bundle.empty()
                 ? ""
                 : "; its charts stand still, since the build fetched no Vega-Lite (npm)");
  return ExitCode::ok;
}

}  // namespace

void add_report_html(Verb kind) {
  auto options = std::make_shared<HtmlArguments>();
  add_sources(kind, options->sources);
  kind.option("-o,--output", options->output, "Page to write; - is stdout").required().type("FILE");
  kind.option("--title", options->title, "Heading of the page; the name of the sweep by default")
      .type("TEXT");
  kind.option("--rows", options->rows_max,
              "Rows of the table that needs no script; the data have all points of the page")
      .type("N")
      .between(1, 1000000)
      .show_default();
  add_points_max(
      kind, options->sources,
      "Of a store with more points, about as many are on the page: those at some values of "
      "each axis, with the front and the extremes of all; counts are of all points");
  kind.option("--x", options->x,
              "Numeric column of the first chart's x axis, at first; the reader can change it")
      .type("COLUMN");
  kind.option("--y", options->y, "Metric of the first chart").type("METRIC");
  kind.option("--by", options->by, "Column of the first chart's lines and colours").type("COLUMN");
  kind.option("--panel", options->panel,
              "Column with a panel of the first chart for each label; the method by default, where "
              "further columns vary")
      .type("COLUMN");
  kind.flag("--still", options->still,
            "Leave out the library for interactive charts (0.8 MB); filters and table stay");
  kind.on_chosen([options] { return report(*options); });
}

}  // namespace tiersim::cli
