#include "sim/model/device_costs.hpp"

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"

namespace tiersim::device_costs_test {

// A mapping with the costs of a device beside its own field.
struct Priced {
  std::string name;
  DeviceCosts costs;
};
static void describe(Fields& f, Priced& c) {
  f.required("name", c.name, "A name.");
  describe_costs(f, c.costs);
}

namespace {

Priced priced(const std::string& text, Diagnostics& diagnostics) {
  const Document document = load_text(text, "test.yaml", {}, diagnostics);
  return read<Priced>(document, "priced", diagnostics);
}

TEST(DeviceCosts, AreReadFromTheMappingOfTheDevice) {
  Diagnostics diagnostics;
  const Priced c = priced(
      "name: hbm\n"
      "energy_per_byte: {value: 3.9 pJ/bit, class: assumed, source: paper}\n"
      "idle_power: 75 W\n"
      "price_per_gb: 0 USD/GB\n",
      diagnostics);
  ASSERT_EQ(diagnostics.text(), "");
  EXPECT_EQ(c.costs.energy_per_byte->value, EnergyPerByte::from_base(31'200));
  EXPECT_EQ(c.costs.energy_per_byte->source, "paper");
  EXPECT_EQ(c.costs.idle_power->value, Power::from_base(75'000));
  EXPECT_EQ(c.costs.price_per_byte->value, MoneyPerByte{});
  EXPECT_FALSE(c.costs.energy_per_flop);
  EXPECT_FALSE(c.costs.price);
}

TEST(DeviceCosts, MayAllBeLeftOut) {
  Diagnostics diagnostics;
  const Priced c = priced("name: hbm\n", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  EXPECT_EQ(canonical_json(c), R"({"name":"hbm"})");
}

TEST(DeviceCosts, AnotherDimensionIsRefused) {
  Diagnostics diagnostics;
  (void)priced("name: hbm\nenergy_per_byte: 4 W\nprice: 20000000 USD\n", diagnostics);
  const std::string text = diagnostics.text();
  EXPECT_NE(text.find("'4 W' is a power where an energy per byte is expected"), std::string::npos)
      << text;
  EXPECT_NE(text.find("'20000000 USD' is out of range"), std::string::npos) << text;
}

}  // namespace
}  // namespace tiersim::device_costs_test
