// tiersim completion bash|zsh|fish, tiersim man: written from the command line's own declarations,
// so that they cannot say less or more than the program does.
#include <array>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/run/version.hpp"

namespace tiersim::cli {
namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string> out;
  for (const CLI::App* app : apps) out.push_back(app->get_name());
  return out;
}

// "--set --json -o": what may follow a verb, its own sub-verbs included.
std::vector<std::string> words_after(const CLI::App& verb) {
  std::vector<std::string> out = names_of(verbs_of(verb));
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    for (const std::string& name : option->get_snames()) out.push_back("-" + name);
  }
  return out;
}

std::string bash(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* verb : verbs_of(app))
    cases +=
        fmt::format("    {}) words=\"{}\" ;;\n", verb->get_name(), join(words_after(*verb), " "));
  return fmt::format(R"(# bash completion for tiersim
_tiersim() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{}    *) words="{}" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="{} --help --version"
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _tiersim tiersim
)",
                     cases, "", join(names_of(verbs_of(app)), " "));
}

std::string zsh(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* verb : verbs_of(app))
    cases +=
        fmt::format("    {}) compadd -- {} ;;\n", verb->get_name(), join(words_after(*verb), " "));
  return fmt::format(R"(#compdef tiersim
_tiersim() {{
  if (( CURRENT == 2 )); then
    compadd -- {} --help --version
    return
  fi
  case $words[2] in
{}  esac
  _files
}}
_tiersim "$@"
)",
                     join(names_of(verbs_of(app)), " "), cases);
}

std::string fish(const CLI::App& app) {
  std::string out = "# fish completion for tiersim\n";
  for (const CLI::App* verb : verbs_of(app)) {
    out += fmt::format("complete -c tiersim -n __fish_use_subcommand -f -a {} -d '{}'\n",
                       verb->get_name(), verb->get_description());
    const std::string inside =
        fmt::format("complete -c tiersim -n '__fish_seen_subcommand_from {}'", verb->get_name());
    for (const CLI::App* sub : verbs_of(*verb))
      out += fmt::format("{} -f -a {} -d '{}'\n", inside, sub->get_name(), sub->get_description());
    for (const CLI::Option* option : verb->get_options())
      for (const std::string& name : option->get_lnames())
        out += fmt::format("{} -l {} -d '{}'\n", inside, name, option->get_description());
  }
  return out;
}

std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '-') out += '\\';
    out += c;
  }
  return out;
}

void man_options(const CLI::App& verb, std::string& out) {
  for (const CLI::Option* option : verb.get_options())
    out += fmt::format(".TP\n.B {}\n{}\n", roff(option->get_name(false, true)),
                       roff(option->get_description()));
}

std::string man(const CLI::App& app) {
  std::string out = fmt::format(
      ".TH TIERSIM 1 \"\" \"tiersim {}\" \"User Commands\"\n.SH NAME\ntiersim \\- {}\n"
      ".SH SYNOPSIS\n.B tiersim\n.I VERB\n[arguments]\n.SH VERBS\n",
      kVersion, roff(app.get_description()));
  for (const CLI::App* verb : verbs_of(app)) {
    out += fmt::format(".SS {}\n{}\n", verb->get_name(), roff(verb->get_description()));
    man_options(*verb, out);
    for (const CLI::App* sub : verbs_of(*verb)) {
      out += fmt::format(".TP\n.B {} {}\n{}\n", verb->get_name(), sub->get_name(),
                         roff(sub->get_description()));
      man_options(*sub, out);
    }
  }
  return out +
         ".SH EXIT STATUS\n0 ok, 1 internal, 2 usage, 3 bad configuration, 5 target missed.\n"
         ".SH ENVIRONMENT\n.TP\n.B TIERSIM_CONFIGS\nFolder of the shipped configurations.\n";
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  struct Kind {
    const char* name;
    const char* help;
    std::string (*text)(const CLI::App&);
  };
  CLI::App* verb = app.add_subcommand("completion", "Completion script for a shell");
  verb->require_subcommand(1);
  const auto add = [&app, &action](CLI::App* parent, const Kind& kind) {
    parent->add_subcommand(kind.name, kind.help)->callback([&app, &action, text = kind.text] {
      action = [&app, text] {
        fmt::print("{}", text(app));
        return ExitCode::ok;
      };
    });
  };
  for (const Kind& kind : {Kind{"bash", "for bash", bash}, Kind{"zsh", "for zsh", zsh},
                           Kind{"fish", "for fish", fish}})
    add(verb, kind);
  add(&app, {"man", "Manual page, as roff", man});
}

}  // namespace tiersim::cli
