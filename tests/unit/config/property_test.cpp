// Properties over random texts, from fixed seeds: failures print the text.
#include <algorithm>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "tests/unit/config/sample_text.hpp"

namespace tiersim::property_test {
namespace {

using namespace sample;

template <class T>
void shuffle(std::vector<T>& all, Rng& rng) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[rng.below(i)]);
}

// Flow YAML of the tree with the keys of every mapping in random order.
std::string shuffled(const Node& node, Rng& rng) {
  if (node.kind == NodeKind::scalar) return node.quoted ? '"' + node.scalar + '"' : node.scalar;
  std::vector<std::string> parts;
  for (const Node& item : node.items) parts.push_back(shuffled(item, rng));
  for (const Entry& entry : node.entries)
    parts.push_back(entry.key + ": " + shuffled(entry.value, rng));
  if (node.kind == NodeKind::mapping) shuffle(parts, rng);
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return node.kind == NodeKind::mapping ? '{' + out + '}' : '[' + out + ']';
}

TEST(ConfigProperty, OrderOfKeysDoesNotChangeTheCanonicalText) {
  const Read ordered = read_text(kText);
  Rng rng(1, "order of keys");
  for (int round = 0; round < 100; ++round) {
    const std::string text = shuffled(ordered.document.root(), rng);
    const Read got = read_text(text);
    ASSERT_EQ(got.mistakes, "") << text;
    ASSERT_EQ(canonical_json(got.config), canonical_json(ordered.config)) << text;
  }
}

std::string random_text(Rng& rng) {
  static constexpr std::string_view kAlphabet = "ab 01:#-{}[]\"'\\,&*!|>%@~?\n\t./=";
  std::string text;
  for (std::uint64_t i = rng.below(12); i > 0; --i) text += kAlphabet[rng.below(kAlphabet.size())];
  return text;
}

Experiment random_experiment(Rng& rng) {
  Experiment c = read_text(kText).config;
  c.name = random_text(rng);
  c.step.batch = static_cast<std::int64_t>(1 + rng.below(1'000'000));
  c.step.kv_type = static_cast<DataType>(rng.below(3));
  c.scale = rng.exponential(1e3);
  c.compute = FlopRate::from_base(static_cast<std::int64_t>(rng.next() >> 1U));
  for (std::uint64_t i = rng.below(4); i > 0; --i) {
    Device device = c.devices.at(rng.below(2) == 0 ? "hbm" : "pcie");
    device.link.raw = Bandwidth::from_base(static_cast<std::int64_t>(rng.next() >> 1U) | 1);
    device.memory.capacity.source = "x" + random_text(rng);
    c.devices["k" + random_text(rng)] = device;
  }
  return c;
}

TEST(ConfigProperty, CanonicalTextIsAFixedPoint) {
  Rng rng(2, "fixed point");
  for (int round = 0; round < 300; ++round) {
    const Experiment config = random_experiment(rng);
    const std::string text = canonical_json(config);
    const Read got = read_text(text);
    ASSERT_EQ(got.mistakes, "") << text;
    ASSERT_EQ(canonical_json(got.config), text);
  }
}

TEST(ConfigProperty, ShownConfigurationsReadBackAsTheSame) {
  Rng rng(3, "show");
  for (int round = 0; round < 300; ++round) {
    const Experiment config = random_experiment(rng);
    const std::string text = show_config(Document(), config);
    const Read got = read_text(text);
    ASSERT_EQ(got.mistakes, "") << text;
    ASSERT_EQ(canonical_json(got.config), canonical_json(config)) << text;
  }
}

std::string mutated(std::string text, Rng& rng) {
  static constexpr std::string_view kBytes = "{}[]:,-#\"'&*!|>%@`?~ \n\t\r0a\x01\xC3\xFF";
  for (std::uint64_t i = 1 + rng.below(4); i > 0 && !text.empty(); --i) {
    const std::size_t at = rng.below(text.size());
    switch (rng.below(5)) {
      case 0:
        text[at] = kBytes[rng.below(kBytes.size())];
        break;
      case 1:
        text.insert(at, 1, kBytes[rng.below(kBytes.size())]);
        break;
      case 2:
        text.erase(at, 1 + rng.below(8));
        break;
      case 3:
        text.insert(at, text.substr(rng.below(text.size()), rng.below(24)));
        break;
      default:
        text[at] = static_cast<char>(rng.below(256));
        break;
    }
  }
  return text;
}

TEST(ConfigProperty, NoMutatedTextCrashes) {
  Rng rng(4, "mutations");
  std::size_t refused = 0;
  for (int round = 0; round < 4000; ++round) {
    const Read got = read_text(mutated(std::string(kText), rng));
    if (!got.mistakes.empty()) {
      ++refused;
      ASSERT_EQ(got.mistakes.find(": error: ") == std::string::npos, false) << got.mistakes;
      continue;
    }
    const std::string text = canonical_json(got.config);
    ASSERT_EQ(canonical_json(read_text(text).config), text);
  }
  EXPECT_GT(refused, 2000U);  // most mutations of so dense a text are mistakes
}

TEST(ConfigProperty, NoMutatedOverrideCrashes) {
  Rng rng(5, "overrides");
  for (int round = 0; round < 2000; ++round) {
    const std::string text = mutated("windows.0.to={from: 1 ms}", rng);
    const Read got = read_text(kText, {text, "path.1=pcie"});
    if (!got.mistakes.empty()) continue;
    ASSERT_EQ(read_text(canonical_json(got.config)).mistakes, "") << text;
  }
}

}  // namespace
}  // namespace tiersim::property_test
