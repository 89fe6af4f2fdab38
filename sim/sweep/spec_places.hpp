#pragma once
// Where things of a SPEC stand, and mistakes reported there. Internal to sim/sweep.
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/document.hpp"
#include "sim/sweep/expression.hpp"

namespace tiersim {

class SpecPlaces {
 public:
  /// Mistakes go to `diagnostics`; what is below those of `before` is not looked at.
  SpecPlaces(const Document& document, Diagnostics& diagnostics, const Diagnostics& before = {});

  /// Whether something of the value was reported before.
  bool is_broken(const std::string& path) const;

  /// At the value of the dotted path, as "axes.0.values.2"; no key of it may have dots.
  void report(const std::string& path, std::string message, std::string hint = {}) const;
  /// At a byte of the expression that is the value.
  void report(const std::string& path, const ExpressionError& error) const;
  /// At a key or value of a mapping whose keys may have dots.
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
