#pragma once
// Places of values in a SPEC, and mistakes reported there. Internal to sim/sweep.
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/document.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim {

class SpecPlaces {
 public:
  /// Mistakes go to `diagnostics`; values with mistakes in `before` are not checked again.
  SpecPlaces(const Document& document, Diagnostics& diagnostics, const Diagnostics& before = {});

  /// True where a mistake in the value was reported before.
  bool is_broken(const std::string& path) const;

  /// Reports at the value of the dotted path, as in "axes.0.values.2"; its keys must not have dots.
  void report(const std::string& path, std::string message, std::string hint = {}) const;
  /// Reports at a byte of the expression that is the value.
  void report(const std::string& path, const ExpressionError& error) const;
  /// Reports at a key or value of a mapping whose keys may have dots.
  void report_key(const std::string& path, const std::string& key, std::string message,
                  std::string hint = {}) const;
  void report_value(const std::string& path, const std::string& key, std::string message,
                    std::string hint = {}) const;

  Diagnostic fault(const std::string& path, const ExpressionError& error) const;
  Location value(const std::string& path) const;
  const Document& document() const { return document_; }

 private:
  const Node* node_at(std::string_view path) const;

  const Document& document_;
  Diagnostics& diagnostics_;
  std::vector<std::string> broken_;
};

}  // namespace tiersim
