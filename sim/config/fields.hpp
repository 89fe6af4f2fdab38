#pragma once
// The one declaration of each parameter. A struct lists its fields once, in a function beside it,
//
//   void describe(Fields& f, HbmConfig& c) {
//     f.doc("High-bandwidth memory beside the GPU.");
//     f.required("capacity", c.capacity, "Bytes the workload may place here.", positive());
//     f.optional("efficiency", c.efficiency, "Achieved over peak.", in_range(0.0, 1.0));
//     f.check(c.atom <= c.page, "atom", "is larger than a page", "lower it");
//   }
//
// and that one function reads YAML, checks ranges, applies defaults (the initial values of the
// members), writes the canonical text and the JSON schema, and shows origins. Each of these tasks
// is a class derived from Fields (describe.hpp shows their use). A describe function also runs with
// half-read members, so it must not assume anything about them.
//
// A member is bool, std::int64_t, double, std::string, a quantity (Bytes, Duration, Energy, ...:
// all of WithQuantities), Sourced<> of a number or quantity, an enum (with the array of its names),
// a struct with a describe() of its own, or a std::vector, std::map<std::string, .> or
// std::optional of these. In YAML an enumerator has its name, and a Sourced is `4800 GB/s` (class
// assumed, source "not stated") or `{value: 4800 GB/s, class: specification, source: "data
// sheet"}`, with `ci95: [4700 GB/s, 4900 GB/s]` beside the value if its 95 % interval is known. The
// interval belongs to its value: a value that is stated anew without an interval has none.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/config/limits.hpp"
#include "sim/config/value.hpp"

namespace tiersim {

/// One choice of a select().
struct Alternative {
  std::string name;
  std::string help;
};

/// The values that an importer's key takes: one name only, or one name or a list.
enum class ImportCount : std::uint8_t { one, several };

class Fields {
 public:
  virtual ~Fields() = default;

  /// Describes this mapping; called once, before all fields.
  virtual void doc(std::string_view text) = 0;

  /// A key that must be present.
  template <class T>
  void required(std::string_view key, T& member, std::string_view help, Limits limits = {}) {
    static_assert(!std::is_enum_v<T>, "an enum needs the array of its names");
    add({key, help, true, std::move(limits), {}}, member);
  }
  /// A key that may be left out; the member then keeps its value.
  template <class T>
  void optional(std::string_view key, T& member, std::string_view help, Limits limits = {}) {
    static_assert(!std::is_enum_v<T>, "an enum needs the array of its names");
    add({key, help, false, std::move(limits), {}}, member);
  }
  /// The same for an enum, or a list, map or optional of one. The names stand in the order of the
  /// enumerators, from 0, and live as long as the program.
  template <class T, std::size_t N>
  void required(std::string_view key, T& member, const std::array<std::string_view, N>& names,
                std::string_view help) {
    add({key, help, true, {}, {}}, member, names);
  }
  template <class T, std::size_t N>
  void optional(std::string_view key, T& member, const std::array<std::string_view, N>& names,
                std::string_view help) {
    add({key, help, false, {}, {}}, member, names);
  }
  /// A struct (or list or map of them) that may be a file of its own: every `base` of its mapping
  /// must have `schema: tiersim.<kind>/v1`. It may be given inline as well.
  template <class T>
  void document(std::string_view key, T& member, std::string_view kind, std::string_view help) {
    add({key, help, true, {}, kind}, member);
  }
  template <class T>
  void optional_document(std::string_view key, T& member, std::string_view kind,
                         std::string_view help) {
    add({key, help, false, {}, kind}, member);
  }

  /// A key that names one or several files, over whose values this mapping is laid. The loader
  /// removes the key (importer.hpp); this call makes it known to help, schema and the check of
  /// misspelt keys.
  virtual void importable(std::string_view key, std::string_view help,
                          ImportCount count = ImportCount::one) = 0;
  /// The same for a key that takes a name, or a mapping with the name under `file` and the fields
  /// of `describe_file` (Importer::read).
  using DescribeMapping = std::function<void(Fields&)>;
  virtual void importable_file(std::string_view key, std::string_view help,
                               const DescribeMapping& /*describe_file*/) {
    importable(key, help, ImportCount::one);
  }

  /// Reads `key` into `kind`; it must be one of the alternatives, and `describe_kind` lists the
  /// further fields of that alternative, which stand in the same mapping. At most one per mapping.
  using DescribeKind = std::function<void(const std::string& kind, Fields&)>;
  virtual void select(std::string_view key, std::string& kind,
                      const std::vector<Alternative>& alternatives,
                      const DescribeKind& describe_kind) = 0;

  /// A rule across fields. A violation is reported at `path` (dotted, relative to this mapping) if
  /// everything below this mapping could be read. The message continues the path: "is above the
  /// capacity".
  virtual void check(bool ok, std::string_view path, std::string_view message,
                     std::string_view hint = {}) = 0;

  /// False where something below this mapping could not be read: a check that builds what is
  /// configured must then leave it, and needs not be made.
  virtual bool is_whole() const { return true; }

  /// True where only values with a class are looked at. A describe() with hundreds of plain numbers
  /// may then leave them out, since draws and records walk over all fields many times.
  virtual bool only_sourced() const { return false; }

  /// Declares that numbers of this mapping were estimated together, with the correlations of their
  /// logarithms for every pair in the order 12 13 ... 1n 23 ...; an empty list stands for none.
  /// Resampling within the numbers' intervals uses them (resample.hpp). `key` is the field with the
  /// list, at which mistakes in the list are reported.
  ///
  ///   f.optional("correlation", c.correlation, "Of t0, bandwidth and peak.");
  ///   f.correlated({"t0", "bandwidth", "peak"}, "correlation", c.correlation);
  virtual void correlated(const std::vector<std::string_view>& /*keys*/, std::string_view /*key*/,
                          const std::vector<double>& /*correlations*/) {}

 protected:
  struct Field {
    std::string_view key;
    std::string_view help;
    bool required;
    Limits limits;
    std::string_view document_kind;  ///< empty if the value is not a document
  };
  virtual void field(const Field& field, const detail::Value& value) = 0;

 private:
  template <class T>
  void add(const Field& described, T& member, detail::EnumNames names = {}) {
    using detail::value_of;
    field(described, value_of(member, names));
  }
};

}  // namespace tiersim
