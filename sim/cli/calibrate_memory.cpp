#include "sim/cli/calibrate_memory.hpp"

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "hwmodels/memory/dram_fit.hpp"
#include "reports/calibration/dram_fit_text.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/runner/device_file.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct CalibrateMemoryArguments {
  std::string device;
  std::vector<std::string> set;
  std::string output;
  bool json = false;
};

// The file of a DRAM may lack the numbers that this command computes. Placeholders stand in for
// them: the packet level, from which they are computed, does not read them.
ConfigFile<DeviceFile> load_device(const CalibrateMemoryArguments& options) {
  std::vector<std::string> set = options.set;
  Diagnostics diagnostics;
  Document document = load_document(options.device, standard_options(set), diagnostics);
  const Entry* model = document.root().find("model");
  if (model != nullptr && model->value.scalar == "dram") {
    for (const auto& [key, value] :
         {std::pair{"read_efficiency", "1"}, {"write_efficiency", "1"}, {"row_time", "0 ns"}})
      if (document.root().find(key) == nullptr) set.push_back(fmt::format("{}={}", key, value));
    diagnostics = {};
    document = load_document(options.device, standard_options(set), diagnostics);
  }
  auto config = read<DeviceFile>(document, "device", diagnostics);
  throw_if_any(diagnostics);
  return {std::move(document), std::move(config)};
}

const DramConfig& dram_of(const ConfigFile<DeviceFile>& file, const std::string& name) {
  const DramConfig* memory =
      file.config.memory ? config_of<DramConfig>(*file.config.memory) : nullptr;
  if (memory == nullptr)
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: model: is {} (only a memory of the model dram has "
                              "banks and timings to calibrate on)",
                              printable(name), printable(file.config.kind)));
  if (!memory->packet_level)
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: packet_level: is missing (state the timings of its "
                              "data sheet there; configs/devices/ddr5_4800_host_8.yaml shows how)",
                              printable(name)));
  return *memory;
}

// The weakest class of the numbers that the packets take.
NumberClass class_of_packets(const DeviceFile& device) {
  NumberClass weakest_class = NumberClass::fitted;
  for (const SourcedNumber& number : list_numbers(device))
    if (number.path.starts_with("packet_level."))
      weakest_class = weakest(weakest_class, number.number_class);
  return weakest_class;
}

ExitCode calibrate_memory(const CalibrateMemoryArguments& options) {
  if (options.device.empty()) throw Failure(ExitCode::usage, "tiersim: error: name a device: FILE");
  if (!options.output.empty()) expect_writable(options.output);
  const ConfigFile<DeviceFile> file = load_device(options);
  const DramFit fit = fit_dram(dram_of(file, options.device));
  const NumberClass number_class = class_of_packets(file.config);
  fmt::print("{}", options.json ? dram_fit_json(fit, number_class)
                                : to_text(dram_fit_table(fit, number_class)));
  if (options.output.empty()) return ExitCode::ok;
  const std::string device = fs::path(options.device).filename().string();
  std::string command = "tiersim calibrate memory " + shell_word(device);
  for (const std::string& set : options.set) command += " --set " + shell_word(set);
  write_file(options.output,
             dram_fit_yaml(fit, printable(command), number_class,
                           fmt::format("packet level of {}, whose timings are the weakest of its "
                                       "inputs",
                                       printable(device))));
  return ExitCode::ok;
}

}  // namespace

void add_calibrate_memory(Verb calibrate) {
  auto options = std::make_shared<CalibrateMemoryArguments>();
  Verb verb = calibrate.add(
      "memory", "Derive a DRAM's bandwidth and latency under load from its banks and timings");
  verb.footer(
      "The command is for a memory of which only the data sheet is known. The device file states\n"
      "the timings under packet_level, and names the written file as a `base`. The command takes\n"
      "about ten seconds.");
  verb.option("FILE", options->device, "Device (schema tiersim.device/v1, model dram)");
  verb.option("--set", options->set, "Set a key of the device (repeatable)").type("KEY=VALUE");
  verb.option("-o,--output", options->output, "Write the numbers as a file for the device's `base`")
      .type("FILE.yaml");
  verb.flag("--json", options->json, "Print JSON instead of a table");
  verb.on_chosen([options] { return calibrate_memory(*options); });
}

}  // namespace tiersim::cli
