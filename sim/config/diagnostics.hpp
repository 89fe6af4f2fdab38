#pragma once
// Mistakes that the user must fix. They are collected rather than thrown one at a time, so that one
// run shows every mistake of every file:
//
//   Diagnostics diagnostics;
//   const Document document = load_document(path, {}, diagnostics);
//   const auto config = read<Scenario>(document, "scenario", diagnostics);
//   if (!diagnostics.ok()) ...   // print diagnostics.text(), exit 3; `config` is not to be used
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tiersim {

struct Location {
  std::string file;  ///< as shown to the user; "--set 'a.b=c'" for an override
  int line = 1;      ///< from 1
  int column = 1;    ///< from 1, in bytes; of an override, within a.b=c
};

struct Diagnostic {
  Location where;
  std::string message;    ///< lower case, no full stop
  std::string hint = {};  ///< what to do about it; may be empty
  std::string path = {};  ///< dotted path of the setting, as --set takes it; may be empty
  /// True for a rule across fields, where a change of another field could also fix it.
  bool of_several = false;

  /// `file:line:col: error: path: message (hint)`, on one line, control characters as escapes.
  std::string text() const;
};

class Diagnostics {
 public:
  void report(Diagnostic diagnostic) { all_.push_back(std::move(diagnostic)); }
  bool ok() const { return all_.empty(); }
  /// Sorted by file, line and column. A mistake in a file that is the base of several settings is
  /// listed once, under the first path.
  std::vector<Diagnostic> list() const;
  /// The list as text, one line each.
  std::string text() const;

 private:
  std::vector<Diagnostic> all_;
};

}  // namespace tiersim
