#include "hwmodels/packet/dram/address_map.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hwmodels/packet/dram/dram_config.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::dram_address_map_test {
namespace {

AddressMapConfig small_hashed() {
  AddressMapConfig c;
  c.pieces = {{DramField::column, 1}, {DramField::pseudo_channel, 1}, {DramField::bank_group, 2},
              {DramField::column, 2}, {DramField::bank, 2},           {DramField::rank, 1},
              {DramField::row, 3}};
  c.hashes = {{DramField::bank, 0, DramField::row, 0},
              {DramField::bank, 0, DramField::row, 2},
              {DramField::bank_group, 1, DramField::row, 1},
              {DramField::pseudo_channel, 0, DramField::bank, 1}};
  return c;
}

TEST(AddressMap, GivesEveryPlaceOneAddress) {
  for (const bool hashed : {false, true}) {
    AddressMapConfig config = small_hashed();
    if (!hashed) config.hashes.clear();
    const auto map = AddressMap::make(config);
    ASSERT_TRUE(map) << map.error();
    ASSERT_EQ(map->bits(), 12);
    std::set<DramPlace> places;
    for (std::uint64_t atom = 0; atom < 4096; ++atom) places.insert(map->place(atom));
    EXPECT_EQ(places.size(), 4096U);
  }
}

TEST(AddressMap, ReadsPiecesFromTheLeastSignificantBit) {
  const auto map = AddressMap::make({});
  ASSERT_TRUE(map);
  // column 3, pseudo channel 1, bank group 2, column 2, bank 3, row 14
  EXPECT_EQ(map->place(0b101), (DramPlace{5, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(map->place(0b1000), (DramPlace{0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(map->place(0b100000), (DramPlace{0, 0, 2, 0, 0, 0, 0}));
  EXPECT_EQ(map->place(0b11000000), (DramPlace{24, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(map->place(std::uint64_t{6} << 8U), (DramPlace{0, 0, 0, 6, 0, 0, 0}));
  EXPECT_EQ(map->place(std::uint64_t{9} << 11U), (DramPlace{0, 0, 0, 0, 0, 0, 9}));
  EXPECT_EQ(map->granule_atoms(), 8);  // 256 B of 32 B atoms
}

TEST(AddressMap, HashesWithTheBitsAsTheyStandInTheAddress) {
  const auto map = AddressMap::make(small_hashed());
  ASSERT_TRUE(map);
  // Row 5 = bits 0 and 2, which both turn bank bit 0: twice is not at all. Row 1 turns it once.
  EXPECT_EQ(map->place(std::uint64_t{5} << 9U)[3], 0U);
  EXPECT_EQ(map->place(std::uint64_t{1} << 9U)[3], 1U);
  EXPECT_EQ(map->place(std::uint64_t{2} << 9U)[2], 2U);
}

TEST(AddressMap, RefusesWhatIsNotBijective) {
  AddressMapConfig twice;
  // Bits 0 and 1 of the bank each become their sum: rank 1 of 2.
  twice.hashes = {{DramField::bank, 0, DramField::bank, 1},
                  {DramField::bank, 1, DramField::bank, 0}};
  const auto singular = AddressMap::make(twice);
  ASSERT_FALSE(singular);
  EXPECT_EQ(singular.error(), "is not bijective: rank 24 over GF(2) of 25 bits");

  AddressMapConfig absent;
  absent.hashes = {{DramField::rank, 0, DramField::row, 1}};
  ASSERT_FALSE(AddressMap::make(absent));
  EXPECT_EQ(AddressMap::make(absent).error(), "hashes bit 0 of rank, which it does not have");
  absent.hashes = {{DramField::bank, 0, DramField::row, 14}};
  EXPECT_EQ(AddressMap::make(absent).error(), "hashes with bit 14 of row, which it does not have");
}

TEST(AddressMap, CountsTheRankOfAMatrix) {
  EXPECT_EQ(rank_over_gf2({0b001, 0b010, 0b100}), 3);
  EXPECT_EQ(rank_over_gf2({0b011, 0b110, 0b101}), 2);  // the third is the sum of the others
  EXPECT_EQ(rank_over_gf2({0, 0}), 0);
}

TEST(AddressMap, AMistakeInAFileIsADiagnostic) {
  Diagnostics diagnostics;
  const Document document = load_text(
      "schema: tiersim.dram/v1\n"
      "address_map:\n"
      "  hashes:\n"
      "    - {field: bank, bit: 0, with: bank, with_bit: 1}\n"
      "    - {field: bank, bit: 1, with: bank, with_bit: 0}\n"
      "scheduler: {write_high: 80}\n",
      "dram.yaml", {}, diagnostics);
  read<DramPacketConfig>(document, "dram", diagnostics);
  const std::string text = diagnostics.text();
  EXPECT_NE(text.find("address_map.pieces: is not bijective: rank 24 over GF(2) of 25 bits"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("scheduler.write_high: is above the write buffer"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace tiersim::dram_address_map_test
