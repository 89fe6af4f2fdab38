// Relations between two runs of the flow network, on random scripts that shrink.
#include <functional>

#include <gtest/gtest.h>

#include "tests/property/flow_script_draw.hpp"

namespace tiersim::flow_reference::flow_script_test {
namespace {

using testing::draws_of;
using testing::expect_always;
using testing::find_counterexample;
using testing::Property;

const int kDraws = draws_of(300, 10'000);
using Finishes = std::vector<std::int64_t>;
using Model = std::function<Finishes(const Script&)>;  // end of each flow

Finishes real(const Script& script) {
  return Player(script).run();
}

std::string differs(const Finishes& one, const Finishes& other) {
  for (std::size_t f = 0; f < one.size(); ++f)
    if (one[f] != other[f])
      return "flow " + std::to_string(f) + " ends at " + std::to_string(one[f]) + " ps and at " +
             std::to_string(other[f]);
  return {};
}

// All instants of the same script on a clock of half the rate.
Property half_the_clock_doubles_every_instant(const Model& model) {
  return [model](Choices& c) {
    const Script script = draw_exact(c);
    Script slow = script;
    for (std::int64_t& capacity : slow.capacity) capacity /= 2;
    for (ScriptFlow& flow : slow.flows) flow.start *= 2;
    Finishes twice = model(script);
    for (std::int64_t& finish : twice) finish *= 2;
    return differs(twice, model(slow));
  };
}

// Two equal flows, and one with twice the weight in their place.
Property a_flow_of_two_ends_as_they_do(const Model& model) {
  return [model](Choices& c) {
    Script merged = draw_ragged(c);
    const auto which = static_cast<std::size_t>(
        c.pick("merged", 0, static_cast<std::int64_t>(merged.flows.size()) - 1));
    Script two = merged;
    two.flows.insert(two.flows.begin() + static_cast<std::ptrdiff_t>(which), two.flows[which]);
    ScriptFlow& flow = merged.flows[which];
    flow.payload *= 2, flow.weight *= 2;
    for (ScriptHop& hop : flow.hops) hop.wire *= 2;
    Finishes of_two = model(two);
    if (of_two[which] != of_two[which + 1]) return std::string("equal flows end apart");
    of_two.erase(of_two.begin() + static_cast<std::ptrdiff_t>(which));
    return differs(of_two, model(merged));
  };
}

Property order_of_starts_at_one_instant_is_nothing(const Model& model) {
  return [model](Choices& c) {
    Script script = draw_ragged(c);
    for (ScriptFlow& flow : script.flows) flow.start = 0;
    Script turned = script;
    std::ranges::reverse(turned.flows);
    Finishes finishes = model(turned);
    std::ranges::reverse(finishes);
    return differs(model(script), finishes);
  };
}

TEST(FlowScripts, TakeTwiceAsLongOnAClockOfHalfTheRate) {
  expect_always(21, kDraws, half_the_clock_doubles_every_instant(real));
}
TEST(FlowScripts, EndAlikeWhenTwoEqualFlowsAreMerged) {
  expect_always(22, kDraws, a_flow_of_two_ends_as_they_do(real));
}
TEST(FlowScripts, DoNotCareForTheOrderOfStartsAtOneInstant) {
  expect_always(23, kDraws, order_of_starts_at_one_instant_is_nothing(real));
}

// Sum of stays = integral of the number in flight, in whole picoseconds.
std::string littles_law(const Script& script, std::int64_t lost) {
  Player first(script);
  const Finishes finish = first.run();
  Finishes instants = finish;
  Int128 stays = lost;
  for (std::size_t f = 0; f < finish.size(); ++f) {
    instants.push_back(script.flows[f].start);
    stays += finish[f] - script.flows[f].start;
  }
  std::ranges::sort(instants);
  Player again(script);
  again.start();
  Int128 area = 0;
  for (std::size_t i = 0; i + 1 < instants.size(); ++i) {
    again.engine().run_until(SimTime(Duration(instants[i])));
    const FlowTotals totals = again.network().totals();
    area += Int128{totals.flows_started - totals.flows_finished} * (instants[i + 1] - instants[i]);
  }
  return area == stays ? "" : "the integral is not the sum of stays";
}

TEST(FlowScripts, KeepLittlesLawToThePicosecond) {
  expect_always(24, kDraws, [](Choices& c) { return littles_law(draw_ragged(c), 0); });
  EXPECT_TRUE(
      find_counterexample(24, 1, [](Choices& c) { return littles_law(draw_ragged(c), 1); }));
}

std::int64_t moved_by(const Script& script, std::int64_t time) {
  Player player(script);
  player.start();
  player.engine().run_until(SimTime(Duration(time)));
  return player.network().stats(LinkId(0)).wire_moved.in_base();
}

// One link, which never idles while a flow could use it: a further flow may slow the others, but
// never the link. Bytes in flight are rounded down to whole ones, and a finished flow counts in
// full up to a picosecond of its rate early.
Property one_flow_more_keeps_throughput(bool idles) {
  return [idles](Choices& c) -> std::string {
    const Script script = draw_ragged(c, 1);
    Script less = script;
    less.flows.erase(less.flows.begin() +
                     c.pick("removed", 0, static_cast<std::int64_t>(less.flows.size()) - 1));
    const auto flows = static_cast<std::int64_t>(script.flows.size());
    const std::int64_t slack = flows * (1 + script.capacity[0] / kPicosecondsPerSecond + 1);
    Finishes finish = real(script);
    for (const std::int64_t time : finish) {
      const std::int64_t with = moved_by(script, time) / (idles ? 2 : 1);
      if (with + slack < moved_by(less, time))
        return "fewer bytes by " + std::to_string(time) + " ps than with a flow less";
    }
    return {};
  };
}

TEST(FlowScripts, LoseNoThroughputToOneMoreFlowOnALink) {
  expect_always(25, kDraws, one_flow_more_keeps_throughput(false));
  EXPECT_TRUE(find_counterexample(25, kDraws, one_flow_more_keeps_throughput(true)));
}

Finishes none_takes_less_than_1000_s(const Script& script) {
  Script floored = script;
  for (ScriptFlow& flow : floored.flows)
    flow.min_duration = std::max<std::int64_t>(flow.min_duration, 1'000'000'000'000'000);
  return real(floored);
}
Finishes forgets_weights(const Script& script) {
  Script equal = script;
  for (ScriptFlow& flow : equal.flows) flow.weight = 1;
  return real(equal);
}
Finishes prefers_the_first(const Script& script) {
  Script unfair = script;
  unfair.flows.front().weight *= 2;
  return real(unfair);
}

TEST(FlowScripts, FindPlantedFaultsAndMakeThemSmall) {
  for (const auto& [property, most] :
       {std::pair{half_the_clock_doubles_every_instant(none_takes_less_than_1000_s), 1U},
        std::pair{a_flow_of_two_ends_as_they_do(forgets_weights), 10U},
        std::pair{order_of_starts_at_one_instant_is_nothing(prefers_the_first), 10U}}) {
    const auto found = find_counterexample(26, 100, property);
    ASSERT_TRUE(found);
    EXPECT_LE(found->size(), most) << found->text();
  }
}

}  // namespace
}  // namespace tiersim::flow_reference::flow_script_test
