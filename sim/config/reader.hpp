#pragma once
// The Fields that fills a struct from a mapping. Every mistake is reported once, without its
// consequences: a missing key that is present but misspelt, a check on values that could not be
// read, keys of an unknown kind.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/changed_keys.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/config/fields.hpp"
#include "sim/config/tree.hpp"

namespace tiersim::detail {

struct Problem;

/// Diagnostics of one reading, with a count that shows if anything below a mapping went wrong.
struct ReadLog {
  Diagnostics& diagnostics;
  std::size_t mistakes = 0;

  void report(const Origin& at, const std::string& path, std::string message, std::string hint,
              bool of_several = false) {
    ++mistakes;
    diagnostics.report({at.location(), std::move(message), std::move(hint), path, of_several});
  }
};

/// The place of a value below that of its mapping or list, which lives longer. Only messages need
/// the path, so that it is composed where one is written.
struct Place {
  const Place* parent = nullptr;  ///< null for the root of the document
  std::string_view key = {};      ///< null for an element of a list
  std::size_t index = 0;          ///< of the element
  const Origin* origin;           ///< of the key
  bool incomplete = false;        ///< a base that could have supplied parts was not loaded

  /// Dotted, as --set takes it; empty for the root.
  std::string path() const;
};

class Reader final : public Fields {
 public:
  /// With `changed`, only those values are read: the other members hold their values already.
  Reader(ReadLog& log, const Node& mapping, Place place, const ChangedKeys* changed = nullptr);

  /// Reports unknown and missing keys, then failed checks. Called once, after describe().
  void finish();

  void doc(std::string_view) override {}
  void importable(std::string_view key, std::string_view help, ImportCount count) override;
  void select(std::string_view key, std::string& kind, const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override;
  bool is_whole() const override { return log_.mistakes == mistakes_before_ && failed_.empty(); }
  void check(bool ok, std::string_view path, std::string_view message,
             std::string_view hint) override;
  void correlated(const std::vector<std::string_view>& keys, std::string_view key,
                  const std::vector<double>& correlations) override;

 protected:
  void field(const Field& field, const Value& value) override;

 private:
  struct FailedCheck {
    std::string path;
    std::string message;
    std::string hint;
  };

  /// `changed` is null if the whole value is to be read.
  void read(const Field& field, const Value& value, const Node& node, const Place& place,
            const ChangedKeys* changed);
  void read_scalar(const Field& field, const ScalarValue& value, const Node& node,
                   const Place& place);
  void read_enum(const EnumValue& value, const Node& node, const Place& place);
  void read_sourced(const Field& field, const SourcedValue& value, const Node& node,
                    const Place& place);
  /// `ci95` of the number whose mapping this reader reads.
  void read_interval(const Field& field, const SourcedValue& value, const Entry& entry);
  void read_struct(const Field& field, const StructValue& value, const Node& node,
                   const Place& place, const ChangedKeys* changed);
  void read_list(const Field& field, const ListValue& value, const Node& node, const Place& place);
  void read_map(const Field& field, const MapValue& value, const Node& node, const Place& place,
                const ChangedKeys* changed);
  void report_unknown_keys();
  bool is_of_another_kind(const Entry& entry) const;
  /// The entry of a key that this mapping may have; null if it has none.
  const Entry* meet(std::string_view key);
  Place below(const Entry& entry, bool incomplete) const;
  std::string child_path(std::string_view key) const;

  ReadLog& log_;
  const Node& mapping_;
  Place place_;
  const ChangedKeys* changed_;
  std::size_t mistakes_before_;
  bool kind_unknown_ = false;        // so its further keys are unknown too
  const Entry* selected_ = nullptr;  // the key that chose the kind
  std::vector<std::string> known_;
  std::vector<bool> met_;  // entries with a known key
  std::size_t next_ = 0;   // fields mostly come in the order of the entries
  std::vector<std::string> importable_;
  std::vector<std::string> missing_;
  std::vector<FailedCheck> failed_;
};

}  // namespace tiersim::detail
