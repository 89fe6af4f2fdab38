#pragma once
// Reports the mistakes of a pool (pools.hpp) at the keys that the user wrote.
#include <set>
#include <string>
#include <utility>

#include "sim/config/fields.hpp"

namespace tiersim {

/// Passes the checks of each pool in turn on to `to`. Keys that the pool which reads prompts has of
/// its own stand below `prefill`; a mistake in what the pools share is reported once.
class PoolChecks final : public Fields {
 public:
  explicit PoolChecks(Fields& to) : to_(to) {}

  /// The checks that follow are of the pool that reads prompts, or of the one that answers.
  void set_prefill(bool prefill) { prefill_ = prefill; }

  void doc(std::string_view) override {}
  void importable(std::string_view, std::string_view, ImportCount) override {}
  void select(std::string_view, std::string&, const std::vector<Alternative>&,
              const DescribeKind&) override {}
  bool is_whole() const override { return to_.is_whole(); }
  bool only_sourced() const override { return to_.only_sourced(); }
  void check(bool ok, std::string_view path, std::string_view message,
             std::string_view hint) override;

 private:
  void field(const Field&, const detail::Value&) override {}

  Fields& to_;
  bool prefill_ = false;
  std::set<std::pair<std::string, std::string>> reported_;  // paths and messages
};

}  // namespace tiersim
