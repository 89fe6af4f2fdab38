#pragma once
// The map from address bits to the fields of a DRAM place (bank, row, column and so on). Fields are
// listed from the least significant bit above the atom; a field may come in several pieces, low
// piece first. Bits of a field may be hashed with bits of another one. The map is a matrix over
// GF(2) and must have full rank: every place then has exactly one address.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

enum class DramField : std::uint8_t { column, pseudo_channel, bank_group, bank, rank, stack, row };
inline constexpr std::array<std::string_view, 7> kDramFieldNames{
    "column", "pseudo_channel", "bank_group", "bank", "rank", "stack", "row"};

struct AddressPiece {
  DramField field = DramField::column;
  std::int64_t bits = 1;
};

/// Bit `bit` of `field` is exclusive-ored with bit `with_bit` of `with`, both before hashing.
struct AddressHash {
  DramField field = DramField::bank;
  std::int64_t bit = 0;
  DramField with = DramField::row;
  std::int64_t with_bit = 0;
};

struct AddressMapConfig {
  std::vector<AddressPiece> pieces;
  std::vector<AddressHash> hashes;

  /// A 256 B granule of 32 B atoms, as column 3, pseudo channel 1, bank group 2, column 2, bank 3,
  /// row 14.
  AddressMapConfig();
};

void describe(Fields& f, AddressPiece& c);
void describe(Fields& f, AddressHash& c);
void describe(Fields& f, AddressMapConfig& c);

/// The place of an atom: one number for each field, in the order of DramField.
using DramPlace = std::array<std::uint32_t, kDramFieldNames.size()>;

class AddressMap {
 public:
  /// The error names the mistake: a hash of a missing bit, or a matrix without an inverse.
  static Expected<AddressMap> make(const AddressMapConfig& config);

  int bits() const { return bits_; }
  int bits_of(DramField field) const { return field_bits_[static_cast<std::size_t>(field)]; }
  /// Place of the atom of that number; numbers wrap around at 2^bits.
  DramPlace place(std::uint64_t atom) const;
  /// Number of neighbouring atoms in one row: those of the column bits below the first other field.
  std::int64_t granule_atoms() const;

 private:
  struct Segment {
    std::uint8_t field, shift, low, bits;
  };
  struct Parity {
    std::uint8_t field, bit, other_shift;
  };
  std::vector<Segment> segments_;
  std::vector<Parity> hashes_;
  std::array<int, kDramFieldNames.size()> field_bits_{};
  int bits_ = 0;
};

/// Rank over GF(2) of the matrix with these rows.
int rank_over_gf2(std::vector<std::uint64_t> rows);

}  // namespace tiersim
