#pragma once
// The interface between verbs and the command line. Only command_line.cpp knows the parser.
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

/// Type name of options that take a setting rather than a file, for --help and completions.
inline constexpr const char* kSettingType = "A.B=VALUE";

/// Runs after parsing, if its verb was chosen.
using Action = std::function<ExitCode()>;

/// One option, flag or argument of a verb.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& required(bool is = true);
  /// The text shown for the value: "FILE", or the allowed words: "text|csv".
  Option& type(const std::string& name);
  Option& help(const std::string& text);
  Option& show_default();
  /// A number from `low` to `high`, both included.
  Option& between(std::int64_t low, std::int64_t high);
  Option& positive();
  /// `mistake` returns the mistake in a text, or an empty text; `expects` is shown in --help.
  Option& check(std::function<std::string(const std::string& text)> mistake,
                const std::string& expects = "");
  /// The number of words that follow the option.
  Option& takes(int at_least, int at_most);
  /// One word may hold several values: "1,2,3".
  Option& comma_separated();
  Option& excludes(const Option& other);
  /// True where the option was given; valid after parsing.
  bool given() const;

 private:
  CLI::Option* option_;
};

/// A verb, or the program itself. Copies refer to the same verb.
class Verb {
 public:
  Verb(CLI::App& app, std::shared_ptr<Action> chosen) : app_(&app), chosen_(std::move(chosen)) {}

  Verb add(const std::string& name, const std::string& help);
  /// `names` is "-o,--output", or "CONFIG" for an argument. An option with a list takes one value
  /// each time it is given; an argument with a list takes all remaining words.
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
  /// The option of this name, which was added before.
  Option added(const std::string& name) const;

  /// Text below the options in --help.
  void footer(const std::string& text);
  /// Requires one of the sub-verbs.
  void needs_verb();
  /// `action` runs if this verb was chosen and none of its sub-verbs.
  void on_chosen(Action action);

 private:
  CLI::App* app_;
  std::shared_ptr<Action> chosen_;
};

/// A description of the command line, for completions and the manual.
struct OptionDescription {
  std::string argument;                ///< name of an argument; empty for an option
  std::vector<std::string> spellings;  ///< "--output", "-o"
  std::string shown;                   ///< as in --help
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
  /// Parses the arguments and runs the chosen verb. Help goes to stdout, mistakes with a hint to
  /// stderr.
  ExitCode run(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::shared_ptr<Action> chosen_;
};

}  // namespace tiersim::cli
