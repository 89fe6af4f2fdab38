// tiersim completion bash|zsh|fish, tiersim man: generated from the command line's own
// declarations, so that they always match the program.
#include <sstream>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/base/version.hpp"
#include "sim/cli/verbs.hpp"

namespace tiersim::cli {
namespace {

// The possible words after a verb, or after a verb and its sub-verb.
struct Place {
  std::string at;                       // "list hw"; empty for the program itself
  std::vector<std::string> words = {};  // sub-verbs, and choices of an argument
  std::vector<std::string> options = {};
  std::vector<std::string> takes_file = {};  // options with a file as value
  std::vector<std::string> takes_text = {};
  std::vector<std::pair<std::string, std::string>> takes_word = {};  // with the words
  std::string files = {};  // file extension of its argument
};

// The choices of a type "a|b|c"; empty for any other type.
std::vector<std::string> choices_of(const OptionDescription& option) {
  std::istringstream type(option.type);
  std::vector<std::string> out;
  for (std::string word; std::getline(type, word, '|');) out.push_back(word);
  return out.size() > 1 ? out : std::vector<std::string>();
}

// The name or type of an argument determines its completion: CONFIG, RECORD, or "a|b|c".
void add_argument(const OptionDescription& option, Place& place) {
  const std::string& name = option.argument;
  if (name == "CONFIG" || name == "SPEC") place.files = "yaml";
  if (name == "RECORD") place.files = "json";
  for (std::string& word : choices_of(option)) place.words.push_back(std::move(word));
}

Place place_of(const VerbDescription& verb, const std::string& at) {
  Place place;
  place.at = at;
  for (const VerbDescription& below : verb.verbs) place.words.push_back(below.name);
  for (const OptionDescription& option : verb.options) {
    if (!option.argument.empty()) add_argument(option, place);
    for (const std::string& spelling : option.spellings) {
      if (const auto words = choices_of(option); !words.empty()) {
        place.takes_word.emplace_back(spelling, join(words, " "));
      } else if (option.takes_value) {
        const bool file = option.type != kSettingType;
        (file ? place.takes_file : place.takes_text).push_back(spelling);
      }
      place.options.push_back(spelling);
    }
  }
  return place;
}

// The program first, then the verbs, each before its sub-verbs.
std::vector<Place> places_of(const VerbDescription& program) {
  std::vector<Place> out{place_of(program, "")};
  for (const VerbDescription& verb : program.verbs) {
    out.push_back(place_of(verb, verb.name));
    for (const VerbDescription& below : verb.verbs)
      out.push_back(place_of(below, verb.name + ' ' + below.name));
  }
  return out;
}

// A pattern of `case` in bash and zsh: 'list hw:--json'|'list hw:-j'.
std::string patterns(const std::string& at, const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words)
    out += fmt::format("{}'{}:{}'", out.empty() ? "" : "|", at, word);
  return out;
}

// The lines of `case` that both shells share: the places below a verb, and the completion of an
// option's value.
struct ShellCases {
  std::string below;  // 'list hw'|'list models'
  std::string text;   // 'run:--set'
  std::string file;
  std::string word;  // whole lines, with the shell's own command
};

ShellCases shell_cases(const std::vector<Place>& places, const char* complete) {
  ShellCases out;
  const auto append = [](std::string& to, const std::string& pattern) {
    if (!pattern.empty()) to += (to.empty() ? "" : "|") + pattern;
  };
  for (const Place& place : places) {
    if (place.at.find(' ') != std::string::npos) append(out.below, '\'' + place.at + '\'');
    append(out.text, patterns(place.at, place.takes_text));
    append(out.file, patterns(place.at, place.takes_file));
    for (const auto& [option, words] : place.takes_word)
      out.word += fmt::format("    '{}:{}') {}; return ;;\n", place.at, option,
                              fmt::format(fmt::runtime(complete), words));
  }
  return out;
}

std::string bash(const VerbDescription& program) {
  const std::vector<Place> places = places_of(program);
  const ShellCases cases = shell_cases(places, "COMPREPLY=($(compgen -W '{}' -- \"$cur\"))");
  std::string what;
  for (const Place& place : places)
    what += fmt::format("    '{}') words='{}' options='{}' files='{}' ;;\n", place.at,
                        join(place.words, " "), join(place.options, " "), place.files);
  return fmt::format(R"(# bash completion for tiersim
_tiersim() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" at='' words='' options='' files='' IFS=$' \t\n'
  [ "$COMP_CWORD" -gt 1 ] && at="${{COMP_WORDS[1]}}"
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$at ${{COMP_WORDS[2]}}" in
    {}) at="$at ${{COMP_WORDS[2]}}" ;;
    esac
  fi
  COMPREPLY=()
  case "$at:${{COMP_WORDS[COMP_CWORD-1]}}" in
    {}) return ;;
    {}) IFS=$'\n'; COMPREPLY=($(compgen -f -- "$cur")); return ;;
{}  esac
  case "$at" in
{}  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$cur")); return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [ -z "$files" ] && return
  IFS=$'\n'
  COMPREPLY+=($(compgen -f -X "!*.$files" -- "$cur") $(compgen -d -- "$cur"))
}}
complete -o filenames -F _tiersim tiersim
)",
                     cases.below, cases.text, cases.file, cases.word, what);
}

std::string zsh(const VerbDescription& program) {
  const std::vector<Place> places = places_of(program);
  const ShellCases cases = shell_cases(places, "compadd -- {}");
  std::string what;
  for (const Place& place : places) {
    what +=
        fmt::format("    ('{}')\n      if [[ $PREFIX == -* ]]; then compadd -- {}; return; fi\n",
                    place.at, join(place.options, " "));
    if (!place.words.empty()) what += fmt::format("      compadd -- {}\n", join(place.words, " "));
    if (!place.files.empty()) what += fmt::format("      _files -g '*.{}'\n", place.files);
    what += "      ;;\n";
  }
  return fmt::format(R"(#compdef tiersim
_tiersim() {{
  local at=''
  (( CURRENT > 2 )) && at=$words[2]
  if (( CURRENT > 3 )); then
    case "$at $words[3]" in
      {}) at="$at $words[3]" ;;
    esac
  fi
  case "$at:$words[CURRENT-1]" in
    {}) return ;;
    {}) _files; return ;;
{}  esac
  case $at in
{}  esac
}}
_tiersim "$@"
)",
                     cases.below, cases.text, cases.file, cases.word, what);
}

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + '\'';
}

void fish_options(const VerbDescription& verb, const std::string& inside, std::string& out) {
  for (const OptionDescription& option : verb.options) {
    std::string names;
    for (const std::string& spelling : option.spellings)
      names +=
          spelling.starts_with("--") ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
    if (names.empty()) continue;
    const std::string words = join(choices_of(option), " ");
    std::string value = option.takes_value ? " -r" : "";
    if (option.type == kSettingType) value = " -x";
    if (!words.empty()) value = fmt::format(" -x -a {}", fish_quoted(words));
    out += fmt::format("{}{}{} -d {}\n", inside, names, value, fish_quoted(option.help));
  }
}

std::string fish(const VerbDescription& program) {
  std::string out = "# fish completion for tiersim\n";
  for (const VerbDescription& verb : program.verbs) {
    out += fmt::format("complete -c tiersim -n __fish_use_subcommand -f -a {} -d {}\n", verb.name,
                       fish_quoted(verb.help));
    const std::string inside =
        fmt::format("complete -c tiersim -n '__fish_seen_subcommand_from {}", verb.name);
    for (const std::string& word : place_of(verb, "").words)
      out += fmt::format("{}' -f -a {}\n", inside, word);
    fish_options(verb, inside + '\'', out);
    for (const VerbDescription& sub : verb.verbs) {
      const std::string below =
          fmt::format("{}; and __fish_seen_subcommand_from {}'", inside, sub.name);
      for (const std::string& word : place_of(sub, "").words)
        out += fmt::format("{} -f -a {}\n", below, word);
      fish_options(sub, below, out);
    }
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

void man_options(const VerbDescription& verb, std::string& out) {
  for (const OptionDescription& option : verb.options)
    out += fmt::format(".TP\n.B {}\n{}\n", roff(option.shown), roff(option.help));
}

std::string man(const VerbDescription& program) {
  std::string out = fmt::format(
      ".TH TIERSIM 1 \"\" \"tiersim {}\" \"User Commands\"\n.SH NAME\ntiersim \\- {}\n"
      ".SH SYNOPSIS\n.B tiersim\n.I VERB\n[arguments]\n.SH VERBS\n",
      kVersion, roff(program.help));
  for (const VerbDescription& verb : program.verbs) {
    out += fmt::format(".SS {}\n{}\n", verb.name, roff(verb.help));
    man_options(verb, out);
    for (const VerbDescription& below : verb.verbs) {
      out += fmt::format(".TP\n.B {} {}\n{}\n", verb.name, below.name, roff(below.help));
      man_options(below, out);
    }
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExitCodes)
    out += fmt::format(".TP\n.B {}\n{}\n", code, roff(meaning));
  return out + ".SH ENVIRONMENT\n.TP\n.B TIERSIM_CONFIGS\nFolder of the shipped configurations.\n";
}

}  // namespace

void add_completion(Verb program, const CommandLine& command_line) {
  const auto add = [&command_line](Verb below, const char* name, const char* help,
                                   std::string (*text)(const VerbDescription&)) {
    below.add(name, help).on_chosen([&command_line, text] {
      fmt::print("{}", text(command_line.description()));
      return ExitCode::ok;
    });
  };
  Verb verb = program.add("completion", "Print a completion script for a shell");
  verb.needs_verb();
  add(verb, "bash", "Print the completion script for bash", bash);
  add(verb, "zsh", "Print the completion script for zsh", zsh);
  add(verb, "fish", "Print the completion script for fish", fish);
  add(program, "man", "Print the manual page, as roff", man);
}

}  // namespace tiersim::cli
