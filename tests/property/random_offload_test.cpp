// Random draws of methods that keep rows in the far tier and fetch those that they choose: bytes
// are conserved on the way from the choice to attention, every invariant of a step is met, and
// devices that share nothing take the same time at the levels `analytic` and `flow`.
#include <optional>

#include <fmt/format.h>

#include "sim/base/rng.hpp"
#include "sim/step/simulate.hpp"
#include "tests/support/invariants.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"
#include "workloads/attention/kv_ops.hpp"

namespace tiersim::random_offload_test {
namespace {

constexpr int kLayers = 4;
constexpr std::uint64_t kBlock = 64;  // positions; every block of a method divides it

struct Draw {
  std::string method;
  std::vector<std::string> set;
  bool whole_pages = false;  // more than the chosen rows may be copied
  bool guessed = false;
  bool by_query_head = false;
  std::uint64_t dense_layers = 0;  // their copies begin while the new row is stored

  /// True where nothing runs beside a copy but write-backs.
  bool is_chain() const {
    return !guessed && dense_layers == 0 && method != "nsa" && method != "shadowkv";
  }
  std::string text() const {
    std::string out = "scenarios/methods/llama3_8b_maple.yaml";
    for (const std::string& setting : set) out += " --set '" + setting + "'";
    return out;
  }
};

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : rng_(seed, "random offload") {}

  Draw next() {
    Draw out;
    out.method = one_of({"maple", "sparq", "quest", "loki", "dsa", "shadowkv", "infinigen", "nsa"});
    const std::string model = out.method == "dsa"
                                  ? "deepseek_v32"
                                  : one_of({"llama3_8b", "llama2_7b", "qwen3_8b", "mistral_7b"});
    context_ = kBlock * (1 + rng_.below(256));
    guesses_ = out.method != "nsa" && rng_.below(4) == 0;
    out.guessed = guesses_;
    const std::string settings = method(out);
    out.set = {
        fmt::format("model.base=models/{}.yaml", model),
        fmt::format("model.layers={}", kLayers),
        "system.base=systems/" +
            one_of({"h200_cxl_pool", "h100_host_dram", "gh200_c2c", "a100_host_dram"}) + ".yaml",
        fmt::format("step.context={}", context_),
        fmt::format("step.batch={}", 1 + rng_.below(16)),
        "step.kv_type=" + one_of({"bf16", "fp8"}),
        std::string("step.overlap=") + (guesses_ ? "prefetch_screening" : "serial"),
        fmt::format("method={{name: {}{}, fetch: {{{}}}}}", out.method, settings, fetch(out))};
    return out;
  }

 private:
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[rng_.below(choices.size())];
  }
  bool chance(std::uint64_t of) { return rng_.below(of) == 0; }

  std::string method(Draw& draw) {
    budget_ = static_cast<double>(1 + rng_.below(64)) / 128;
    const std::string budget = fmt::format(", budget: {}", budget_);
    if (draw.method == "quest" || draw.method == "infinigen") draw.dense_layers = rng_.below(3);
    if (draw.method == "maple")
      return budget + ", rank_ratio: " + one_of({"0.25", "0.5"}) +
             ", key_type: " + one_of({"int8", "int4", "fp16"});
    if (draw.method == "sparq") return budget + fmt::format(", rank: {}", 1 + rng_.below(64));
    if (draw.method == "quest")
      return budget + ", page: " + one_of({"8", "16", "32"}) +
             ", bounds_tier: " + one_of({"near", "far"}) +
             fmt::format(", dense_layers: {}", draw.dense_layers);
    if (draw.method == "loki") return budget + fmt::format(", rank: {}", 1 + rng_.below(64));
    if (draw.method == "infinigen")
      return budget + ", partial: " + one_of({"0.1", "0.3", "1"}) +
             fmt::format(", dense_layers: {}", draw.dense_layers);
    if (draw.method == "shadowkv")
      return budget + ", chunk: " + one_of({"1", "8", "16"}) +
             fmt::format(", rank: {}, outliers: {}, local: {}", 1 + rng_.below(160), rng_.below(64),
                         1 + rng_.below(8));
    if (draw.method == "nsa")
      return ", kv_tier: far, chosen_block: " + one_of({"16", "64"}) +
             fmt::format(", chosen: {}, fixed: {}, window: {}", 4 + rng_.below(28), rng_.below(5),
                         1 + rng_.below(1024));
    budget_ = std::min(1.0, 2048.0 / static_cast<double>(context_));
    return ", kv_tier: far";
  }

  bool has_blocks(const Draw& draw) const {
    return draw.method == "quest" || draw.method == "shadowkv" || draw.method == "nsa";
  }

  std::string fetch(Draw& draw) {
    std::string out = "by: " + one_of({"sm", "copy_engine"});
    if (!has_blocks(draw) && chance(4)) {
      draw.whole_pages = true;
      out += ", page: " + one_of({"4", "16"});
    }
    if (draw.method != "nsa" && draw.method != "dsa" && chance(4)) {
      draw.by_query_head = true;
      out += ", choose_per: query_head, head_overlap: " + one_of({"0", "0.5", "1"});
    }
    const bool near =
        (draw.method == "maple" || draw.method == "sparq" || draw.method == "infinigen") &&
        chance(3);
    if (near)
      out += chance(2) ? ", near_share: " + one_of({"0.125", "0.5", "1"})
                       : fmt::format(", near_rows: {}", context_ * (1 + rng_.below(8)) / 2);
    if (chance(3))
      out += fmt::format(", hot_rows: {{share: {}, hit_rate: {}}}", std::min(1.0, 2 * budget_),
                         one_of({"0", "0.5", "0.9"}));
    else if (chance(4))
      out +=
          fmt::format(", hot_rows: {{rows: {}, overlap: {}}}", context_, one_of({"0.5", "0.95"}));
    if (guesses_ && chance(2)) {
      draw.whole_pages = true;
      out += ", guess_miss: " + one_of({"0.1", "1"});
    }
    return out;
  }

  Rng rng_;
  std::uint64_t context_ = 0;
  double budget_ = 0;
  bool guesses_ = false;
};

struct Ran {
  ScenarioConfig config;
  Simulation sim;
};

// Nothing where the settings do not fit each other, which is said.
std::optional<Ran> run(const Draw& draw) {
  Diagnostics diagnostics;
  auto config =
      testing::try_scenario("scenarios/methods/llama3_8b_maple.yaml", draw.set, diagnostics);
  for (const Diagnostic& d : diagnostics.list()) {
    const std::string text = d.text();
    EXPECT_TRUE(testing::is_a_mismatch(text) || text.find("would be hit by") != std::string::npos ||
                text.find("are more than chosen") != std::string::npos)
        << text << "\n"
        << draw.text();
  }
  if (!diagnostics.ok()) return {};
  auto sim = simulate(config, Evaluation::times, Provenance::classes);
  EXPECT_TRUE(sim) << sim.error() << "\n" << draw.text();
  if (!sim) return {};
  return Ran{std::move(config), *std::move(sim)};
}

// Bytes of the last layer, which every method chooses rows of.
struct Moved {
  Bytes copied;    // from the far tier
  Bytes made;      // keys, written to staging by a kernel
  Bytes landed;    // written to staging by copies
  Bytes staged;    // read from staging by attention
  Bytes attended;  // all rows that this attention reads
  Flops flops;     // of it, without padding
};

bool is_row(TensorClass c) {
  return c == TensorClass::keys || c == TensorClass::values || c == TensorClass::staging ||
         c == TensorClass::row_cache || c == TensorClass::states;
}

Moved moved(const Simulation& sim) {
  Moved out;
  const auto of = [](const Op& op, Direction direction, auto wanted) {
    Bytes sum;
    for (const Access& a : op.accesses)
      if (a.direction == direction && wanted(a)) sum += a.payload;
    return sum;
  };
  const auto staging = [](const Access& a) { return a.tensor_class == TensorClass::staging; };
  for (const Op& op : sim.graph.ops) {
    if (op.layer != kLayers - 1) continue;
    if (op.phase == Phase::gather) {
      if (op.kind == OpKind::transfer) {
        out.copied += of(op, Direction::read,
                         [](const Access& a) { return a.tensor_class != TensorClass::indices; });
        out.landed += of(op, Direction::write, staging);
      } else {
        out.made += of(op, Direction::write, staging);
      }
    }
    const bool selects = op.family == KernelFamily::gathered_attention ||
                         op.family == KernelFamily::latent_attention;
    if (op.phase != Phase::attention || !selects) continue;
    out.staged += of(op, Direction::read, staging);
    out.attended += of(op, Direction::read, [](const Access& a) { return is_row(a.tensor_class); });
    out.flops += op.flops - op.padding;
  }
  return out;
}

// Copied rows, hits and near rows are together those that are chosen, which the arithmetic counts.
void expect_conserved(const Ran& ran, const Draw& draw) {
  const Moved m = moved(ran.sim);
  const KvShape shape(context_of(ran.config, *ran.sim.system));
  const std::int64_t attended = m.flops.in_base() / shape.attention_flops(1).in_base();
  EXPECT_EQ(m.flops, shape.attention_flops(attended)) << draw.text();
  EXPECT_EQ(m.copied, m.landed) << draw.text();
  if (draw.whole_pages)
    EXPECT_GE(m.copied + m.made, m.staged) << draw.text();
  else
    EXPECT_EQ(m.copied + m.made, m.staged) << draw.text();
  if (draw.by_query_head)
    EXPECT_GE(m.attended, shape.both(attended)) << draw.text();
  else
    EXPECT_EQ(m.attended, shape.both(attended)) << draw.text();
  EXPECT_LE(m.attended, shape.both(shape.context)) << draw.text();
}

TEST(RandomOffload, ConservesBytesAndKeepsEveryInvariant) {
  const int draws = testing::draws_of(200, 10'000);
  Draws next(4);
  int ran = 0;
  for (int i = 0; i < draws; ++i) {
    const Draw draw = next.next();
    const auto result = run(draw);
    if (!result) continue;
    ++ran;
    expect_conserved(*result, draw);
    for (const std::string& broken : testing::broken_invariants(result->sim))
      ADD_FAILURE() << broken << "\n" << draw.text();
  }
  EXPECT_GT(ran, draws / 2) << "too many draws were refused to say much";
}

System at_level(ScenarioConfig& config, Level level) {
  config.system.sm.level = config.system.copy_engine.level = level;
  for (auto& [name, link] : config.system.links) link.level = level;
  for (auto& [name, tier] : config.system.tiers) tier.memory.level = level;
  return build_system(config);
}

// Write-backs run beside the chain of a step, and nothing but its end waits for them.
StepGraph without_write_backs(const StepGraph& graph) {
  StepGraph out{.tier_names = graph.tier_names, .tensors = graph.tensors, .tokens = graph.tokens};
  std::vector<OpId> kept(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    if (op.kind == OpKind::transfer && op.phase == Phase::write_back) continue;
    Op copy = op;
    copy.after = {};
    for (const OpId before : op.after) copy.after.push_back(kept[before.index()]);
    kept[i] = out.add(std::move(copy));
  }
  return out;
}

// Each operation is rounded to 1 ps, and rates of the network to less than a millionth.
TEST(RandomOffload, TakesTheSameTimeAtBothLevelsWhereNothingContends) {
  const int draws = testing::draws_of(100, 10'000);
  Draws next(5);
  int compared = 0;
  for (int i = 0; i < draws; ++i) {
    const Draw draw = next.next();
    if (!draw.is_chain()) continue;
    auto result = run(draw);
    if (!result) continue;
    ++compared;
    const StepGraph graph = without_write_backs(result->sim.graph);
    const System flow = at_level(result->config, Level::flow);
    const System analytic = at_level(result->config, Level::analytic);
    const auto a = static_cast<double>(execute(graph, flow, flow.plan(graph)).time.count());
    const auto b = static_cast<double>(execute(graph, analytic, analytic.plan(graph)).time.count());
    EXPECT_NEAR(a, b, static_cast<double>(graph.ops.size()) + 1e-6 * b) << draw.text();
  }
  EXPECT_GT(compared, draws / 4) << "too many draws were refused to say much";
}

}  // namespace
}  // namespace tiersim::random_offload_test
