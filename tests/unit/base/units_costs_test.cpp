// Energy, power and money: products between dimensions and text forms.
#include <limits>

#include <gtest/gtest.h>

#include "sim/base/display.hpp"
#include "sim/base/units.hpp"
#include "sim/base/units_text.hpp"

namespace tiersim::units_costs_test {
namespace {

using namespace std::chrono_literals;
using namespace tiersim::literals;

template <class T>
T of(std::string_view text) {
  const auto value = parse_quantity<T>(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : T{};
}

TEST(UnitsCosts, EnergyIsBytesOrOperationsTimesEnergyOfEach) {
  EXPECT_EQ(1_GB * of<EnergyPerByte>("8 pJ/B"), of<Energy>("8 mJ"));
  EXPECT_EQ(1_GB * of<EnergyPerByte>("1 pJ/bit"), of<Energy>("8 mJ"));
  EXPECT_EQ(1000_GFLOP * of<EnergyPerFlop>("0.5 pJ/FLOP"), of<Energy>("0.5 J"));
}

TEST(UnitsCosts, EnergyIsPowerTimesDuration) {
  EXPECT_EQ(of<Power>("700 W") * Duration(1ms), of<Energy>("0.7 J"));
  EXPECT_EQ(of<Power>("1 kW") * Duration(1h), of<Energy>("1 kWh"));
  EXPECT_EQ(of<Energy>("1 kWh"), of<Energy>("3.6 MJ"));
}

TEST(UnitsCosts, MoneyIsBytesOrEnergyTimesThePriceOfEach) {
  EXPECT_EQ(512_GB * of<MoneyPerByte>("4 USD/GB"), of<Money>("2048 USD"));
  EXPECT_EQ(of<Energy>("10 kWh") * of<MoneyPerEnergy>("0.12 USD/kWh"), of<Money>("1.2 USD"));
}

TEST(UnitsCosts, ProductsRoundUpToTheirBaseUnit) {
  EXPECT_EQ(1_B * of<EnergyPerByte>("1 fJ/B"), Energy::from_base(1));
  EXPECT_EQ(0_B * of<EnergyPerByte>("1 nJ/B"), Energy{});
  EXPECT_EQ(of<Power>("1 mW") * Duration(1), Energy::from_base(1));
  EXPECT_EQ(1_B * of<MoneyPerByte>("1 nUSD/GB"), Money::from_base(1));
}

TEST(UnitsCosts, ProductsThatNothingHoldsThrow) {
  const Bytes many = Bytes::from_base(std::numeric_limits<std::int64_t>::max());
  const Duration ages(std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW(many * of<EnergyPerByte>("1 nJ/B") * 10, UnitOverflow);
  EXPECT_THROW(many * of<EnergyPerByte>("10 nJ/B"), UnitOverflow);
  EXPECT_THROW(of<Power>("2 kW") * ages, UnitOverflow);
  EXPECT_THROW(many * of<MoneyPerByte>("2 USD/GB"), UnitOverflow);
  EXPECT_THROW(Energy::from_base(many.in_base()) *
                   MoneyPerEnergy::from_base(std::numeric_limits<std::int64_t>::max()),
               UnitOverflow);
}

// Products that are no formula must not compile.
template <class A, class B>
concept Multipliable = requires(A a, B b) {
  a* b;
};
static_assert(Multipliable<Bytes, EnergyPerByte>);
static_assert(!Multipliable<Flops, EnergyPerByte>);
static_assert(!Multipliable<Bytes, EnergyPerFlop>);
static_assert(!Multipliable<Power, Bytes>);
static_assert(!Multipliable<Money, Bytes>);
static_assert(!Multipliable<Energy, MoneyPerByte>);

TEST(UnitsCosts, TextsOfEveryDimensionSurviveTheRoundTrip) {
  EXPECT_EQ(format_quantity(of<EnergyPerByte>("3.9 pJ/bit")), "31.2 pJ/B");
  EXPECT_EQ(format_quantity(of<EnergyPerFlop>("0.7 pJ/FLOP")), "0.7 pJ/FLOP");
  EXPECT_EQ(format_quantity(of<Power>("75 W")), "75 W");
  EXPECT_EQ(format_quantity(of<Money>("30000 USD")), "30000 USD");
  EXPECT_EQ(format_quantity(of<MoneyPerByte>("3.5 USD/GB")), "3.5 USD/GB");
  EXPECT_EQ(format_quantity(of<MoneyPerByte>("0 USD/GB")), "0 nUSD/GB");
  EXPECT_EQ(format_quantity(of<MoneyPerEnergy>("0.12 USD/kWh")), "120 USD/MWh");
  for (std::int64_t base : {1, 7, 999, 123'456'789}) {
    const Energy energy = Energy::from_base(base);
    EXPECT_EQ(of<Energy>(format_quantity(energy)), energy);
    const EnergyPerByte each = EnergyPerByte::from_base(base);
    EXPECT_EQ(of<EnergyPerByte>(format_quantity(each)), each);
  }
}

TEST(UnitsCosts, ErrorsHaveTheRightArticle) {
  EXPECT_EQ(parse_quantity<EnergyPerByte>("4 pJ").error(),
            "unknown unit 'pJ' in '4 pJ' (expected one of: fJ/B, fJ/bit, pJ/B, pJ/bit, nJ/B)");
  EXPECT_EQ(parse_quantity<Energy>("4 W").error(),
            "'4 W' is a power where an energy is expected (one of: nJ, uJ, mJ, J, kJ, MJ, kWh)");
  EXPECT_EQ(parse_quantity<Power>("4 J").error(),
            "'4 J' is an energy where a power is expected (one of: mW, W, kW, MW)");
}

TEST(UnitsCosts, DisplayFitsTheUnit) {
  EXPECT_EQ(display(of<Energy>("1250 mJ")), "1.25 J");
  EXPECT_EQ(display(of<Power>("700 W")), "700 W");
  EXPECT_EQ(display(of<Money>("30000 USD")), "30000 USD");
  EXPECT_DOUBLE_EQ(to_joules(of<Energy>("1 J")), 1.0);
  EXPECT_DOUBLE_EQ(to_watts(of<Power>("1 W")), 1.0);
  EXPECT_DOUBLE_EQ(to_usd(of<Money>("1 USD")), 1.0);
}

}  // namespace
}  // namespace tiersim::units_costs_test
