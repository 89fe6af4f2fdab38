#include "hwmodels/packet/wire.hpp"

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"

namespace tiersim::wire_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

SimTime at(Duration since_start) {
  return SimTime(since_start);
}

TEST(Wire, APacketTakesItsBytesAndThenTheFlight) {
  Wire wire(1_GBps, 5ns);
  const Wire::Passage passage = wire.send(at(10ns), 100_B);
  EXPECT_EQ(passage.starts, at(10ns));
  EXPECT_EQ(passage.leaves, at(110ns));
  EXPECT_EQ(passage.arrives, at(115ns));
}

TEST(Wire, PacketsFollowEachOther) {
  Wire wire(1_GBps, 0ns);
  wire.send(at(0ns), 100_B);
  const Wire::Passage second = wire.send(at(40ns), 50_B);
  EXPECT_EQ(second.starts, at(100ns));
  EXPECT_EQ(second.leaves, at(150ns));
  EXPECT_EQ(wire.sent(), 150_B);
  EXPECT_EQ(wire.packets(), 2);
}

// 3 B/ns is a third of a nanosecond a byte: rounding each packet up would add 1/3 ps to every one.
TEST(Wire, ABusyPeriodDoesNotDrift) {
  Wire wire(3_GBps, 0ns);
  SimTime end{};
  for (int i = 1; i <= 3'000'000; ++i) end = wire.send(SimTime{}, 1_B).leaves;
  EXPECT_EQ(end, at(1ms));
}

TEST(Wire, TheNthByteEndsAtItsExactTimeRoundedUp) {
  Rng rng(7, "wire");
  const Bandwidth rate = Bandwidth::from_base(63'015'384'615);
  Wire wire(rate, 0ns);
  Bytes sent{};
  for (int i = 0; i < 10'000; ++i) {
    const auto size = Bytes::from_base(static_cast<std::int64_t>(rng.below(300)));
    sent += size;
    EXPECT_EQ(wire.send(SimTime{}, size).leaves, SimTime(sent / rate));
  }
}

TEST(Wire, WhatWasRoundedUpIsNotMadeUpForAfterAPause) {
  Wire wire(3_GBps, 0ns);
  EXPECT_EQ(wire.send(at(0ns), 1_B).leaves, SimTime(Duration(334)));
  EXPECT_EQ(wire.send(SimTime(Duration(335)), 1_B).leaves, SimTime(Duration(335 + 334)));
}

TEST(Wire, OnePacketBeyondNineMegabytesIsAsExact) {
  Wire wire(3_GBps, 0ns);
  EXPECT_EQ(wire.send(at(0ns), 3'000'000'000_B).leaves, at(1s));
  EXPECT_EQ(wire.send(at(0ns), 3_B).leaves, at(1s + 1ns));
}

TEST(Wire, BusyTimeIsThatOfTheBytes) {
  Wire wire(1_GBps, 0ns);
  wire.send(at(0ns), 30_B);
  wire.send(at(100ns), 70_B);
  EXPECT_EQ(wire.busy(), 100ns);
}

}  // namespace
}  // namespace tiersim::wire_test
