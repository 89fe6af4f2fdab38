#include "sim/cli/command_line.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/text.hpp"

namespace tiersim::cli {

Option& Option::required(bool is) {
  option_->required(is);
  return *this;
}

Option& Option::type(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::help(const std::string& text) {
  option_->description(text);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::between(std::int64_t low, std::int64_t high) {
  option_->check(CLI::Range(low, high));
  return *this;
}

Option& Option::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option& Option::check(std::function<std::string(const std::string&)> mistake,
                      const std::string& expects) {
  option_->check(CLI::Validator(
      [mistake = std::move(mistake)](const std::string& text) { return mistake(text); }, expects));
  return *this;
}

Option& Option::takes(int at_least, int at_most) {
  option_->allow_extra_args(true)->expected(at_least, at_most);
  return *this;
}

Option& Option::comma_separated() {
  option_->delimiter(',');
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

bool Option::given() const {
  return option_->count() > 0;
}

namespace {

template <class T>
Option add_option(CLI::App& app, const std::string& names, T& value, const std::string& help) {
  return Option(*app.add_option(names, value, help));
}

}  // namespace

Verb Verb::add(const std::string& name, const std::string& help) {
  return {*app_->add_subcommand(name, help), chosen_};
}

Option Verb::option(const std::string& names, std::string& value, const std::string& help) {
  return add_option(*app_, names, value, help);
}

Option Verb::option(const std::string& names, std::int64_t& value, const std::string& help) {
  return add_option(*app_, names, value, help);
}

Option Verb::option(const std::string& names, std::uint64_t& value, const std::string& help) {
  return add_option(*app_, names, value, help);
}

Option Verb::option(const std::string& names, int& value, const std::string& help) {
  return add_option(*app_, names, value, help);
}

Option Verb::option(const std::string& names, double& value, const std::string& help) {
  return add_option(*app_, names, value, help);
}

Option Verb::option(const std::string& names, std::optional<std::int64_t>& value,
                    const std::string& help) {
  return add_option(*app_, names, value, help);
}

Option Verb::option(const std::string& names, std::optional<double>& value,
                    const std::string& help) {
  return add_option(*app_, names, value, help);
}

Option Verb::option(const std::string& names, std::vector<std::string>& value,
                    const std::string& help) {
  CLI::Option* option = app_->add_option(names, value, help);
  if (names.starts_with('-')) option->allow_extra_args(false);
  return Option(*option);
}

Option Verb::flag(const std::string& names, bool& value, const std::string& help) {
  return Option(*app_->add_flag(names, value, help));
}

Option Verb::added(const std::string& name) const {
  return Option(*app_->get_option(name));
}

void Verb::footer(const std::string& text) {
  app_->footer(text);
}

void Verb::needs_verb() {
  app_->require_subcommand(1);
}

namespace {

// An option of a verb says nothing to its sub-verbs.
void refuse_before(const CLI::App& app, const CLI::App& verb) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0)
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: {}: has no effect before '{}'",
                                option->get_name(option->get_positional()), verb.get_name()));
}

}  // namespace

void Verb::on_chosen(Action action) {
  app_->callback([app = app_, chosen = chosen_, action = std::move(action)] {
    const std::vector<CLI::App*> verbs = app->get_subcommands();
    if (verbs.empty())
      *chosen = action;
    else
      refuse_before(*app, *verbs.front());
  });
}

namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

VerbDescription description_of(const CLI::App& app) {
  VerbDescription out{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    OptionDescription one;
    if (option->get_positional()) one.argument = option->get_name(/*positional=*/true);
    for (const std::string& name : option->get_lnames()) one.spellings.push_back("--" + name);
    for (const std::string& name : option->get_snames()) one.spellings.push_back("-" + name);
    one.shown = option->get_name(false, true);
    one.type = option->get_type_name();
    one.help = option->get_description();
    one.takes_value = option->get_expected_min() > 0;
    out.options.push_back(std::move(one));
  }
  for (const CLI::App* verb : verbs_of(app)) out.verbs.push_back(description_of(*verb));
  return out;
}

// The deepest verb that the arguments reached.
const CLI::App& reached(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : reached(*parsed.front());
}

// "list hw", as typed; empty for the program itself.
std::string typed(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "";
  const std::string before = typed(*app.get_parent());
  return before.empty() ? app.get_name() : before + ' ' + app.get_name();
}

// The first argument that no option or argument accepts.
std::string unexpected(const CLI::App& app, bool option) {
  for (const std::string& word : app.remaining(/*recurse=*/true))
    if (word.starts_with('-') == option && word != "--") return word;
  return "";
}

void print_unknown_option(const std::string& given, const VerbDescription& at) {
  const std::string name = given.substr(0, given.find('='));
  std::vector<std::string> known;
  for (const OptionDescription& option : at.options)
    for (const std::string& spelling : option.spellings)
      if (spelling.starts_with("--")) known.push_back(spelling);
  const std::string_view near = nearest(name, known);
  fmt::print(stderr, "tiersim: error: unknown option '{}'{}\n", printable(name),
             near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
}

void print_unknown_verb(const std::string& given, const std::string& where,
                        const VerbDescription& at) {
  std::vector<std::string> words;
  for (const VerbDescription& verb : at.verbs) words.push_back(verb.name);
  const std::string_view near = nearest(given, words);
  const std::string before = where.empty() ? "" : where + ' ';
  if (given.empty())
    fmt::print(stderr, "tiersim: error: the command '{}' needs one more word\n", where);
  else
    fmt::print(stderr, "tiersim: error: there is no command '{}{}'{}\n", before, printable(given),
               near.empty() ? "" : fmt::format("; did you mean '{}{}'?", before, near));
  fmt::print(stderr, "tiersim: {} is one of: {}\n",
             where.empty() ? "the command" : fmt::format("the word after '{}'", where),
             join(words));
}

// CLI11 has its own error codes, and reports a missing word where an unknown one was typed; this
// function gives our exit code and the likely correction.
ExitCode usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& at = reached(app);
  const VerbDescription description = description_of(at);
  const std::string where = typed(at);
  // `validate` works with and without a sub-verb.
  const bool needs_word = where.empty() || at.get_require_subcommand_min() > 0;
  if (const std::string wrong = unexpected(app, /*option=*/true); !wrong.empty())
    print_unknown_option(wrong, description);
  else if (description.verbs.empty() || !needs_word)
    fmt::print(stderr, "tiersim: error: {}\n", printable(error.what()));
  else
    print_unknown_verb(unexpected(app, /*option=*/false), where, description);
  fmt::print(stderr, "tiersim: `{}` explains the command line\n",
             where.empty() ? "tiersim --help" : "tiersim " + where + " --help");
  return ExitCode::usage;
}

}  // namespace

CommandLine::CommandLine(const std::string& help, const std::string& version,
                         const std::string& footer)
    : app_(std::make_unique<CLI::App>()), chosen_(std::make_shared<Action>()) {
  app_->name("tiersim");
  app_->description(help);
  app_->set_version_flag("--version", version);
  app_->require_subcommand(0, 1);
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

Verb CommandLine::program() {
  return {*app_, chosen_};
}

VerbDescription CommandLine::description() const {
  return description_of(*app_);
}

ExitCode CommandLine::run(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& success) {
    app_->exit(success);
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    return usage_error(*app_, error);
  }
  if (*chosen_) return (*chosen_)();
  fmt::print(stderr, "{}", app_->help());
  return ExitCode::usage;
}

}  // namespace tiersim::cli
