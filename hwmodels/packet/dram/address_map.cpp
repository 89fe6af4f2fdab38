#include "hwmodels/packet/dram/address_map.hpp"

#include <bit>

namespace tiersim {
namespace {

constexpr std::size_t index(DramField field) {
  return static_cast<std::size_t>(field);
}

std::string bit_name(DramField field, std::int64_t bit) {
  return "bit " + std::to_string(bit) + " of " + std::string(kDramFieldNames[index(field)]);
}

}  // namespace

AddressMapConfig::AddressMapConfig()
    : pieces{{DramField::column, 3}, {DramField::pseudo_channel, 1}, {DramField::bank_group, 2},
             {DramField::column, 2}, {DramField::bank, 3},           {DramField::row, 14}} {}

void describe(Fields& f, AddressPiece& c) {
  f.doc("Neighbouring bits of an address that belong to one field.");
  f.required("field", c.field, kDramFieldNames, "The coordinate that the bits select.");
  f.required("bits", c.bits, "Number of bits.", in_range(1, 40));
}

void describe(Fields& f, AddressHash& c) {
  f.doc("One bit that is exclusive-ored with another.");
  f.required("field", c.field, kDramFieldNames, "Field of the bit that changes.");
  f.required("bit", c.bit, "The bit that changes, from 0.", in_range(0, 39));
  f.optional("with", c.with, kDramFieldNames, "Field of the other bit.");
  f.required("with_bit", c.with_bit, "The other bit, from 0.", in_range(0, 39));
}

void describe(Fields& f, AddressMapConfig& c) {
  f.doc("Which bits of an address, above the atom, name what inside the DRAM.");
  f.optional("pieces", c.pieces, "From the least significant bit; a field may come in pieces.");
  f.optional("hashes", c.hashes, "Bits that are exclusive-ored with others.");
  const auto map = AddressMap::make(c);
  f.check(map.has_value(), "pieces", map ? "" : map.error(),
          "every place needs exactly one address");
}

int rank_over_gf2(std::vector<std::uint64_t> rows) {
  int rank = 0;
  for (int column = 0; column < 64; ++column) {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(column);
    auto pivot = static_cast<std::size_t>(rank);
    while (pivot < rows.size() && (rows[pivot] & bit) == 0) ++pivot;
    if (pivot == rows.size()) continue;
    std::swap(rows[pivot], rows[static_cast<std::size_t>(rank)]);
    const std::uint64_t row = rows[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i != static_cast<std::size_t>(rank) && (rows[i] & bit) != 0) rows[i] ^= row;
    ++rank;
  }
  return rank;
}

Expected<AddressMap> AddressMap::make(const AddressMapConfig& config) {
  AddressMap map;
  std::array<std::vector<int>, kDramFieldNames.size()> address_bit;
  for (const AddressPiece& piece : config.pieces) {
    if (piece.bits < 1 || map.bits_ + piece.bits > 48)
      return Unexpected(std::string("names more than 48 bits or a piece without any"));
    auto& bits = address_bit[index(piece.field)];
    map.segments_.push_back(
        {static_cast<std::uint8_t>(index(piece.field)), static_cast<std::uint8_t>(map.bits_),
         static_cast<std::uint8_t>(bits.size()), static_cast<std::uint8_t>(piece.bits)});
    for (std::int64_t i = 0; i < piece.bits; ++i) bits.push_back(map.bits_++);
    if (bits.size() > 30) return Unexpected(std::string("gives a field more than 30 bits"));
    map.field_bits_[index(piece.field)] = static_cast<int>(bits.size());
  }
  std::vector<std::uint64_t> rows(static_cast<std::size_t>(map.bits_));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::uint64_t{1} << i;
  for (const AddressHash& hash : config.hashes) {
    const auto& target = address_bit[index(hash.field)];
    const auto& other = address_bit[index(hash.with)];
    if (hash.bit < 0 || hash.bit >= std::ssize(target))
      return Unexpected("hashes " + bit_name(hash.field, hash.bit) + ", which it does not have");
    if (hash.with_bit < 0 || hash.with_bit >= std::ssize(other))
      return Unexpected("hashes with " + bit_name(hash.with, hash.with_bit) +
                        ", which it does not have");
    const auto changed = static_cast<std::size_t>(target[static_cast<std::size_t>(hash.bit)]);
    const int by = other[static_cast<std::size_t>(hash.with_bit)];
    rows[changed] ^= std::uint64_t{1} << static_cast<unsigned>(by);
    map.hashes_.push_back({static_cast<std::uint8_t>(index(hash.field)),
                           static_cast<std::uint8_t>(hash.bit), static_cast<std::uint8_t>(by)});
  }
  const int rank = rank_over_gf2(rows);
  if (rank != map.bits_)
    return Unexpected("is not bijective: rank " + std::to_string(rank) + " over GF(2) of " +
                      std::to_string(map.bits_) + " bits");
  return map;
}

DramPlace AddressMap::place(std::uint64_t atom) const {
  DramPlace place{};
  for (const Segment& s : segments_) {
    const auto value =
        static_cast<std::uint32_t>(atom >> s.shift) & ((std::uint32_t{1} << s.bits) - 1U);
    place[s.field] |= value << s.low;
  }
  for (const Parity& h : hashes_)
    place[h.field] ^= static_cast<std::uint32_t>((atom >> h.other_shift) & 1U) << h.bit;
  return place;
}

std::int64_t AddressMap::granule_atoms() const {
  const bool columns_first = !segments_.empty() && segments_[0].field == index(DramField::column);
  return columns_first ? std::int64_t{1} << segments_[0].bits : 1;
}

}  // namespace tiersim
