#pragma once
// The one declaration per parameter. A struct lists its fields once, in a function beside it,
//
//   void describe(Fields& f, HbmConfig& c) {
//     f.doc("High-bandwidth memory beside the GPU.");
//     f.required("capacity", c.capacity, "Bytes the workload may place here.", positive());
//     f.optional("efficiency", c.efficiency, "Achieved over peak.", in_range(0.0, 1.0));
//     f.check(c.atom <= c.page, "atom", "is larger than a page", "lower it");
//   }
//
// and that one function reads YAML, checks ranges, applies defaults (the value that the member
// has), writes the canonical text and the JSON schema, and shows origins: each is a Fields of its
// own (see describe.hpp for how they are used). A describe function runs with half-read members
// too, so it must not assume anything about them.
//
// A member is bool, std::int64_t, double, std::string, a quantity (Bytes, Duration, Energy, ...:
// all of WithQuantities), Sourced<> of a number or quantity, an enum (with the array of its names),
// a struct with a describe() of its own, or a std::vector, std::map<std::string, .> or
// std::optional of these. In YAML an enumerator has its name, and a Sourced is `4800 GB/s` (class
// assumed, source "not stated") or `{value: 4800 GB/s, class: specification, source: "data
// sheet"}`, with `ci95: [4700 GB/s, 4900 GB/s]` beside the value where its 95 % interval is known.
// The interval goes with its value: a value that is stated anew, without one, has none.
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

/// What an importer's key takes: one name, or also a list of them.
enum class ImportCount : std::uint8_t { one, several };

class Fields {
 public:
  virtual ~Fields() = default;

  /// What this mapping is; once, first.
  virtual void doc(std::string_view text) = 0;

  /// A key that must be there.
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

  /// A key that names a file, or several, whose values lie under this mapping. The loader takes it
  /// away (importer.hpp); whoever describes the mapping knows it by this.
  virtual void importable(std::string_view key, std::string_view help,
                          ImportCount count = ImportCount::one) = 0;

  /// Reads `key` into `kind`; it must be one of the alternatives, and `describe_kind` lists the
  /// further fields of that alternative, which stand in the same mapping. At most one per mapping.
  using DescribeKind = std::function<void(const std::string& kind, Fields&)>;
  virtual void select(std::string_view key, std::string& kind,
                      const std::vector<Alternative>& alternatives,
                      const DescribeKind& describe_kind) = 0;

  /// What must hold across fields; reported at `path` (dotted, relative to this mapping) when
  /// everything below this mapping could be read. The message continues the path: "is above the
  /// capacity".
  virtual void check(bool ok, std::string_view path, std::string_view message,
                     std::string_view hint = {}) = 0;

  /// Says that numbers of this mapping were estimated together: the correlations of their
  /// logarithms for every pair, 12 13 ... 1n 23 ...; none where the list is empty. They matter
  /// where the numbers have intervals that are resampled (resample.hpp). `key` is the field with
  /// the list, where what is wrong with it is reported.
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
    std::string_view document_kind;  ///< empty where the value is no document
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
