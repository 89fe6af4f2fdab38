#pragma once
// The command line as the verbs see it. command_line.cpp alone knows the parser behind it.
//
//   void add_run(Verb program) {
//     auto options = std::make_shared<RunArguments>();
//     Verb verb = program.add("run", "Simulate a step");
//     verb.option("CONFIG", options->config, "Scenario").required();
//     verb.option("--set", options->set, "Override a setting (repeatable)").type(kSettingType);
//     verb.on_chosen([options] { return run(*options); });
//   }
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/runner/failure.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tiersim::cli {

/// Type name of options that take a setting and no file, for --help and completions.
inline constexpr const char* kSettingType = "A.B=VALUE";

/// Run after parsing, if its verb was chosen.
using Action = std::function<ExitCode()>;

/// One option, flag or argument that was added to a verb.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& required(bool is = true);
  /// Shown for the value: "FILE", or the words that it may be: "text|csv".
  Option& type(const std::string& name);
  Option& help(const std::string& text);
  Option& show_default();
  /// A number from `low` to `high`, both included.
  Option& between(std::int64_t low, std::int64_t high);
  Option& positive();
  /// `mistake` says what is wrong with a text, or nothing; `expects` stands in --help.
  Option& check(std::function<std::string(const std::string& text)> mistake,
                const std::string& expects = "");
  /// So many words follow the option.
  Option& takes(int at_least, int at_most);
  /// One word may hold several values: "1,2,3".
  Option& comma_separated();
  Option& excludes(const Option& other);
  /// True where it was given; known after parsing.
  bool given() const;

 private:
  CLI::Option* option_;
};

/// A verb, or the program itself. Copies are of the same verb.
class Verb {
 public:
  Verb(CLI::App& app, std::shared_ptr<Action> chosen) : app_(&app), chosen_(std::move(chosen)) {}

  Verb add(const std::string& name, const std::string& help);
  /// `names`: "-o,--output", or "CONFIG" of an argument. A list takes one value each time it is
  /// given, an argument all that follow.
  Option option(const std::string& names, std::string& value, const std::string& help);
  Option option(const std::string& names, std::int64_t& value, const std::string& help);
  Option option(const std::string& names, std::uint64_t& value, const std::string& help);
  Option option(const std::string& names, int& value, const std::string& help);
  Option option(const std::string& names, double& value, const std::string& help);
  Option option(const std::string& names, std::optional<std::int64_t>& value,
                const std::string& help);
  Option option(const std::string& names, std::optional<double>& value, const std::string& help);
  Option option(const std::string& names, std::vector<std::string>& value, const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);
  /// An option that was added before.
  Option added(const std::string& name) const;

  /// Below the options in --help.
  void footer(const std::string& text);
  /// One of the verbs below this one has to follow.
  void needs_verb();
  /// `action` is run if this verb was chosen and none below it.
  void on_chosen(Action action);

 private:
  CLI::App* app_;
  std::shared_ptr<Action> chosen_;
};

/// What the command line consists of, for completions and the manual.
struct OptionDescription {
  std::string argument;                ///< name of an argument; empty of an option
  std::vector<std::string> spellings;  ///< "--output", "-o"
  std::string shown;                   ///< as --help shows it
  std::string type;
  std::string help;
  bool takes_value = false;
};
struct VerbDescription {
  std::string name;
  std::string help;
  std::vector<OptionDescription> options;
  std::vector<VerbDescription> verbs;
};

class CommandLine {
 public:
  CommandLine(const std::string& help, const std::string& version, const std::string& footer);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  Verb program();
  VerbDescription description() const;
  /// Parses and runs what was chosen. Help goes to stdout, mistakes with a hint to stderr.
  ExitCode run(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::shared_ptr<Action> chosen_;
};

}  // namespace tiersim::cli
