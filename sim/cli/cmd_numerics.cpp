// tiersim numerics [STUDY]: the accuracy of methods, computed in float64, rather than their cost:
// the rows they select, the error of slices of a latent, the layer at which a token may exit. Exit
// 5 if an exact statement does not hold; a statement about a trend only is printed as found.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "reports/numerics/numerics_text.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/runner/load.hpp"
#include "workloads/numerics/early_exit_study.hpp"
#include "workloads/numerics/maple_study.hpp"
#include "workloads/numerics/tpla_study.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kShortTable = 24;  // rows of a table that a digest shows completely

struct StudyKind {
  const char* name;
  numerics::Study (*run)(std::uint64_t seed);
};
constexpr std::array kStudies = {
    StudyKind{"maple", numerics::maple_study},
    StudyKind{"tpla", numerics::tpla_study},
    StudyKind{"early-exit", numerics::early_exit_study},
};

struct NumericsArguments {
  std::string study = "maple";
  std::string folder;
  std::vector<std::string> arrays;
  std::uint64_t seed = 1;
  bool json = false;
  bool full = false;
};

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const StudyKind& kind : kStudies) out.emplace_back(kind.name);
  out.emplace_back("all");
  return out;
}

void report(const std::string& file, const std::string& message, Diagnostics& diagnostics) {
  Diagnostic mistake;
  mistake.where.file = file;
  mistake.message = message;
  diagnostics.report(std::move(mistake));
}

numerics::NpyArray array_of(const std::string& file, Diagnostics& diagnostics) {
  auto array = numerics::read_npy(read_file(file));
  if (array) return *std::move(array);
  const numerics::NpyProblem& problem = array.error();
  report(file, fmt::format("byte {}: {}", problem.offset, problem.what), diagnostics);
  return {};
}

// Reports the mistakes of all files: first of each one, then in their combination.
numerics::Study study_of_files(const std::vector<std::string>& files, std::uint64_t seed) {
  Diagnostics diagnostics;
  std::vector<numerics::NpyArray> arrays;
  for (const std::string& file : files) arrays.push_back(array_of(file, diagnostics));
  throw_if_any(diagnostics);
  numerics::GivenArrays given{.q = std::move(arrays[0]),
                              .k = std::move(arrays[1]),
                              .v = std::move(arrays[2]),
                              .x = std::nullopt};
  if (arrays.size() > 3) given.x = std::move(arrays[3]);
  auto study = numerics::given_heads_study(given, seed);
  if (!study)
    for (const numerics::ArrayProblem& problem : study.error())
      report(files[static_cast<std::size_t>(problem.array)], problem.what, diagnostics);
  throw_if_any(diagnostics);
  return *std::move(study);
}

std::vector<numerics::Study> studies_of(const NumericsArguments& options) {
  const std::vector<std::string> known = names();
  if (std::ranges::find(known, options.study) == known.end()) {
    const std::string_view near = nearest(options.study, known);
    throw Failure(
        ExitCode::usage,
        fmt::format("tiersim: error: there is no study '{}'{} (there are: {})",
                    printable(options.study),
                    near.empty() ? "" : fmt::format("; did you mean '{}'?", near), join(known)));
  }
  if (!options.arrays.empty()) {
    if (options.study != "maple")
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: --qk is for maple, not for {}", options.study));
    return {study_of_files(options.arrays, options.seed)};
  }
  std::vector<numerics::Study> out;
  for (const StudyKind& kind : kStudies)
    if (options.study == "all" || options.study == kind.name) out.push_back(kind.run(options.seed));
  return out;
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "1 long table and 3 plots", without a kind whose count is 0.
std::string left_out_text(std::size_t tables, std::size_t plots) {
  std::string out = tables == 0 ? "" : counted(tables, "long table");
  if (tables > 0 && plots > 0) out += " and ";
  return plots == 0 ? out : out + counted(plots, "plot");
}

void print(const numerics::Study& study, bool full) {
  fmt::print("== {} ==\n\n", study.name);
  std::size_t left_out = 0;
  for (const Table& table : study.tables) {
    if (full || table.rows.size() <= kShortTable)
      fmt::print("{}\n", to_text(table));
    else
      ++left_out;
  }
  for (const numerics::Curve& curve : study.curves)
    fmt::print("{}{}\n", to_text(lines_table(curve)),
               full || &curve == &study.curves.front() ? plot(curve) : "");
  fmt::print("{}\n", statements_text(study.statements));
  const std::size_t plots = full || study.curves.empty() ? 0 : study.curves.size() - 1;
  if (left_out + plots > 0)
    fmt::print("{} more: --full, or the files (-o)\n\n", left_out_text(left_out, plots));
}

void write_files(const numerics::Study& study, const fs::path& folder) {
  write_file(folder / "report.md", to_markdown(study));
  write_file(folder / "report.json", to_json({study}));
  write_file(folder / "statements.csv", to_csv(statements_table(study.statements)));
  for (const Table& table : study.tables) write_file(folder / (table.id + ".csv"), to_csv(table));
  for (const numerics::Curve& curve : study.curves)
    write_file(folder / (curve.id + ".csv"), to_csv(points_table(curve)));
  fmt::print(stderr, "tiersim: wrote {}/report.md, report.json, tables and curves as .csv\n",
             folder.string());
}

ExitCode numerics_verb(const NumericsArguments& options) {
  const std::vector<numerics::Study> studies = studies_of(options);
  if (options.json) fmt::print("{}", to_json(studies));
  std::vector<std::string> broken;
  for (const numerics::Study& study : studies) {
    if (!options.json) print(study, options.full);
    if (!options.folder.empty()) write_files(study, fs::path(options.folder) / study.name);
    for (const numerics::Statement& statement : study.statements)
      if (statement.exact && !statement.holds) broken.push_back(statement.id);
  }
  if (broken.empty()) return ExitCode::ok;
  fmt::print(stderr, "tiersim: does not hold: {}\n", join(broken));
  return ExitCode::target_missed;
}

// A check of our own, since CLI11 clamps a number that is too large, and reads 010 as 8.
std::string seed_mistake(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  const bool padded = text.size() > 1 && text.front() == '0';
  if (error == std::errc() && stop == end && !padded) return "";
  return fmt::format("a seed is a whole number from 0 to {}, not '{}'",
                     std::numeric_limits<std::uint64_t>::max(), printable(text));
}

}  // namespace

void add_numerics(Verb program) {
  auto options = std::make_shared<NumericsArguments>();
  Verb verb = program.add(
      "numerics", "Compute the methods of the papers in float64 and check their statements");
  verb.footer(
      "--qk reads .npy files (float32 or float64, C order): Q [heads, queries, head_dim], K\n"
      "[heads, tokens, head_dim], V [heads, tokens, value_dim] and X [tokens, hidden]. Files of\n"
      "one head may leave the first dimension out. MAPLE needs X. With X, Q has the queries of\n"
      "all tokens; without X, it has those of the newest tokens. Elements are within +-1e30.\n"
      "Offline calibrations of the methods use the first half of the tokens. The exit status is 5\n"
      "if an exact statement does not hold. A statement about the shape of a result may fail.");
  verb.option("STUDY", options->study, "Study to compute, or all")
      .type(join(names(), "|"))
      .show_default();
  verb.option("--qk", options->arrays,
              "Use your own attention heads instead of synthetic ones: Q.npy K.npy V.npy [X.npy]")
      .type("FILE")
      .takes(3, 4);
  verb.option("--seed", options->seed, "Seed of the random numbers")
      .check(seed_mistake)
      .show_default();
  verb.option("-o,--out", options->folder,
              "Write tables and curves as CSV, Markdown and JSON into this folder")
      .type("FOLDER");
  verb.flag("--json", options->json, "Print JSON instead of tables");
  verb.flag("--full", options->full, "Print every table in full, and plot every curve");
  verb.on_chosen([options] { return numerics_verb(*options); });
}

}  // namespace tiersim::cli
