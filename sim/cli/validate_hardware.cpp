#include "sim/cli/validate_hardware.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "reports/hardware/hardware_text.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/base/text.hpp"
#include "sim/runner/load.hpp"
#include "sim/validate/hardware_answers.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct ValidateHardwareArguments {
  std::vector<std::string> files;
  std::vector<std::string> only;
  std::string folder;
  bool json = false;
};

std::vector<fs::path> shipped_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(targets_root() / "hardware"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<HardwareCurve> load_curves(const std::vector<fs::path>& files) {
  std::vector<HardwareCurve> curves;
  Diagnostics diagnostics;
  for (const fs::path& file : files) {
    const Document document = load_document(file, standard_options(), diagnostics);
    auto read_curves = read<HardwareCurves>(document, "hardware_curves", diagnostics);
    std::move(read_curves.curves.begin(), read_curves.curves.end(), std::back_inserter(curves));
  }
  throw_if_any(diagnostics);
  return curves;
}

// Keeps a curve by its name, or all curves of a group.
void keep_only(std::vector<HardwareCurve>& curves, const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const HardwareCurve& curve : curves)
    for (const std::string& name : {curve.facts.group, curve.facts.id})
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  for (const std::string& name : only)
    if (std::ranges::find(names, name) == names.end())
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: --only '{}': there is no such curve or group "
                                "(there are: {})",
                                printable(name), join(names)));
  std::erase_if(curves, [&](const HardwareCurve& curve) {
    return std::ranges::find(only, curve.facts.id) == only.end() &&
           std::ranges::find(only, curve.facts.group) == only.end();
  });
}

// A title as a file name: its words, joined.
std::string file_name(std::string_view title) {
  std::string name;
  for (const char c : title) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (word || (!name.empty() && name.back() != '_')) name += word ? c : '_';
  }
  return name + ".svg";
}

void write_charts(const std::vector<CurveReading>& readings, const std::string& folder) {
  for (const Figure& chart : charts_of(readings)) {
    const fs::path file = fs::path(folder) / file_name(chart.title);
    write_file(file, to_svg(chart));
    fmt::print(stderr, "tiersim: wrote {}\n", file.string());
  }
}

ExitCode validate_hardware(const ValidateHardwareArguments& options) {
  std::vector<fs::path> files(options.files.begin(), options.files.end());
  std::vector<HardwareCurve> curves = load_curves(files.empty() ? shipped_files() : files);
  if (!options.only.empty()) keep_only(curves, options.only);
  std::vector<CurveReading> readings;
  for (const HardwareCurve& curve : curves) readings.push_back(read_curve(curve));
  fmt::print("{}", options.json ? to_json(readings) : to_text(readings));
  if (!options.folder.empty()) write_charts(readings, options.folder);
  const std::int64_t wrong = unexpected(readings);
  if (wrong == 0) return ExitCode::ok;
  fmt::print(stderr, "tiersim: {} answers are not where they should be beside their references\n",
             wrong);
  return ExitCode::target_missed;
}

}  // namespace

void add_validate_hardware(Verb validate) {
  auto options = std::make_shared<ValidateHardwareArguments>();
  Verb verb =
      validate.add("hardware", "Compare devices at three levels of fidelity with reference curves");
  verb.footer(
      "The exit status is 5 if a level of fidelity leaves the band in which it must be. A point\n"
      "whose curve states a reason is listed as known instead, and must be outside of the band.");
  verb.option("--curves", options->files,
              "File of curves (schema tiersim.hardware_curves/v1; repeatable); the shipped curves "
              "by default");
  verb.option("--only", options->only, "Compare only this curve or group of curves (repeatable)");
  verb.option("-o,--out", options->folder, "Also draw the curves, as pictures in this folder");
  verb.flag("--json", options->json, "Print JSON instead of tables");
  verb.on_chosen([options] { return validate_hardware(*options); });
}

}  // namespace tiersim::cli
