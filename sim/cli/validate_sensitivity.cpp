#include "sim/cli/validate_sensitivity.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "reports/hardware/sensitivity_text.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/interruption.hpp"
#include "sim/cli/progress.hpp"
#include "sim/runner/load.hpp"
#include "sim/validate/sensitivity.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct ValidateSensitivityArguments {
  std::string file;
  std::vector<std::string> only;
  std::string folder;
  std::int64_t jobs = 0;
  bool json = false;
};

SensitivityConfig read_config(const Document& document) {
  Diagnostics diagnostics;
  auto config = read<SensitivityConfig>(document, "sensitivity", diagnostics);
  throw_if_any(diagnostics);
  return config;
}

void keep_only(SensitivityConfig& config, const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const SensitiveDevice& device : config.devices) names.push_back(device.name);
  for (const std::string& name : only)
    if (std::ranges::find(names, name) == names.end())
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: --only '{}': there is no such device (there are: "
                                "{})",
                                printable(name), join(names)));
  if (only.empty()) return;
  std::erase_if(config.devices, [&](const SensitiveDevice& device) {
    return std::ranges::find(only, device.name) == only.end();
  });
}

// A configuration and its study, for one thread.
struct Worker {
  SensitivityConfig config;
  std::optional<SensitivityStudy> study;
};

// Executes `count` pieces of work on all threads, in any order, until all are done or the user
// interrupts.
class Crew {
 public:
  Crew(const Document& document, const ValidateSensitivityArguments& options) {
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    const auto jobs = options.jobs > 0 ? static_cast<std::size_t>(options.jobs) : cores;
    for (std::size_t i = 0; i < jobs; ++i) {
      workers_.push_back(std::make_unique<Worker>(Worker{read_config(document), {}}));
      keep_only(workers_.back()->config, options.only);
      workers_.back()->study.emplace(workers_.back()->config);
    }
  }

  const SensitivityConfig& config() const { return workers_.front()->config; }
  SensitivityStudy& study() { return *workers_.front()->study; }

  bool interrupted() const { return stop_; }

  /// Which of the pieces were done.
  template <class Work>
  std::vector<char> each(std::size_t count, const char* noun, const Work& work) {
    std::vector<char> made(count, 0);
    ProgressLine progress(noun);
    std::mutex mutex;
    std::atomic<std::size_t> next{0};
    std::int64_t done = 0;
    std::vector<std::jthread> threads;
    for (const std::unique_ptr<Worker>& worker : workers_)
      threads.emplace_back([&, study = &*worker->study] {
        for (std::size_t i = next++; i < count && !stop_; i = next++) {
          work(*study, i);
          made[i] = 1;
          const std::lock_guard lock(mutex);
          progress.update(++done, 0, static_cast<std::int64_t>(count), "");
        }
      });
    threads.clear();  // waits for them
    return made;
  }

 private:
  std::vector<std::unique_ptr<Worker>> workers_;
  const std::atomic<bool>& stop_ = catch_interruption();
};

using Answers = std::vector<std::vector<SensitivityAnswer>>;  // by device and question

// Runs each question once, even if several devices share it.
Answers unchanged(Crew& crew) {
  struct Asked {
    std::size_t device;
    std::size_t question;
    SensitivityAnswer answer = {};
  };
  std::vector<Asked> list;
  std::map<std::string, std::size_t> index;
  const std::size_t devices = crew.config().devices.size();
  for (std::size_t d = 0; d < devices; ++d)
    for (std::size_t q = 0; q < crew.study().questions(d).size(); ++q)
      if (index.try_emplace(crew.study().questions(d)[q].key(), list.size()).second)
        list.push_back({d, q});
  crew.each(list.size(), "answers", [&](SensitivityStudy& study, std::size_t i) {
    list[i].answer = study.answer(list[i].device, list[i].question);
  });
  Answers out(devices);
  for (std::size_t d = 0; d < devices; ++d)
    for (const SensitivityQuestion& question : crew.study().questions(d))
      out[d].push_back(list[index.at(question.key())].answer);
  return out;
}

// After an interruption, only the numbers that were done.
std::vector<DeviceSensitivity> sensitivities(Crew& crew) {
  const Answers base = unchanged(crew);
  if (crew.interrupted())
    throw Failure(ExitCode::interrupted, "tiersim: interrupted before any number was changed");
  std::vector<DeviceSensitivity> out;
  std::vector<std::pair<std::size_t, std::size_t>> list;  // device, number
  for (std::size_t d = 0; d < base.size(); ++d) {
    const SensitiveDevice& device = crew.config().devices[d];
    DeviceSensitivity& row = out.emplace_back(DeviceSensitivity{
        .name = device.name,
        .title = device.title,
        .answers = std::ranges::count_if(
            base[d], [](const auto& answer) { return answer.value.has_value(); })});
    for (const std::string& path : crew.study().parameters(d)) {
      list.emplace_back(d, row.parameters.size());
      row.parameters.push_back({.path = path});
    }
  }
  const auto change = [&](SensitivityStudy& study, std::size_t i) {
    const auto [d, p] = list[i];
    ParameterSensitivity& row = out[d].parameters[p];
    row = study.sensitivity_of(d, row.path, base[d]);
  };
  const std::vector<char> made = crew.each(list.size(), "numbers", change);
  for (std::size_t i = list.size(); i-- > 0;) {
    std::vector<ParameterSensitivity>& rows = out[list[i].first].parameters;
    if (made[i] == 0) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(list[i].second));
  }
  std::erase_if(out, [](const DeviceSensitivity& device) { return device.parameters.empty(); });
  if (crew.interrupted())
    fmt::print(stderr, "tiersim: interrupted: {} of {} numbers were changed\n",
               std::ranges::count(made, 1), made.size());
  return out;
}

ExitCode validate_sensitivity(const ValidateSensitivityArguments& options) {
  const fs::path file = options.file.empty() ? targets_root() / "sensitivity" / "h100_node.yaml"
                                             : fs::path(options.file);
  Diagnostics diagnostics;
  const Document document = load_document(file, standard_options(), diagnostics);
  throw_if_any(diagnostics);
  Crew crew(document, options);
  const std::vector<std::string> unknown = unknown_workloads(crew.config());
  if (!unknown.empty())
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}: error: `validate levels` has no workload {}", file.string(),
                              join(unknown)));
  const std::vector<DeviceSensitivity> devices = sensitivities(crew);
  fmt::print("{}", options.json ? to_json(devices) : to_text(devices));
  const ExitCode code = crew.interrupted() ? ExitCode::interrupted : ExitCode::ok;
  if (options.folder.empty()) return code;
  for (const auto& [name, text] :
       {std::pair{"sensitivity.md", to_markdown(crew.config().title, devices)},
        {"sensitivity.json", to_json(devices)},
        {"sensitivity.csv", to_csv(sensitivity_data(devices))}}) {
    write_file(fs::path(options.folder) / name, text);
    fmt::print(stderr, "tiersim: wrote {}\n", (fs::path(options.folder) / name).string());
  }
  return code;
}

}  // namespace

void add_validate_sensitivity(Verb validate) {
  auto options = std::make_shared<ValidateSensitivityArguments>();
  Verb verb = validate.add(
      "sensitivity", "Show which reference cases react to a change of each number of a device");
  verb.footer(
      "The command raises and lowers every rate, time, share, size and count of a device by 20 %,\n"
      "one at a time, and runs every case of the device again. 'fails': a case leaves its band of\n"
      "validate hardware. 'moves': a result changes by 1 % or more. 'insensitive': no result\n"
      "does. The command judges nothing: its exit status is 0. It takes a minute on two cores; "
      "Ctrl-C\n"
      "ends it with the numbers that it has (exit status 130).");
  verb.option("--cases", options->file,
              "File of devices and cases (schema tiersim.sensitivity/v1); an H100 node by default");
  verb.option("--only", options->only, "Change only this device (repeatable)");
  verb.option("-j,--jobs", options->jobs, "Number of threads; one for each core by default")
      .between(1, 256);
  verb.option("-o,--out", options->folder,
              "Write sensitivity.md, sensitivity.json and sensitivity.csv into this folder");
  verb.flag("--json", options->json, "Print JSON instead of tables");
  verb.on_chosen([options] { return validate_sensitivity(*options); });
}

}  // namespace tiersim::cli
