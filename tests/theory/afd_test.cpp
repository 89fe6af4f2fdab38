// Attention and MLPs on different GPUs against the schedule of a "ping-pong" pipeline. GPUs that
// attend take Ta for a layer of a micro-batch, those with the MLPs Tf, and a send Tc. Micro-batch i
// of layer l attends when both its MLP of layer l - 1 is back and the GPU is free; all take turns.
// With enough micro-batches the slower kind never waits (MegaScale-Infer, arXiv 2504.02263, 4.1):
//   time = Ta + Tf + 2 Tc + max(Ta, Tf) (m L - 1)   where   m max(Ta, Tf) >= Ta + Tf + 2 Tc
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/step/resampled.hpp"
#include "sim/step/simulate.hpp"
#include "tests/theory/serving_run.hpp"
#include "workloads/importers.hpp"

namespace tiersim::afd_theory_test {
namespace {

using Settings = std::vector<std::string>;

Simulation run(const std::string& file, const Settings& set) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / "scenarios/afd" / file,
      {.overrides = set, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  const auto config = read<ScenarioConfig>(document, "scenario", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  auto sim = simulate(config, Evaluation::times);
  EXPECT_TRUE(sim) << sim.error();
  return *std::move(sim);
}

double value(const Simulation& sim, const std::string& metric) {
  return sim.record.metrics.at(metric).value;
}

// Times of one micro-batch's parts of a step, each operation alone.
struct Parts {
  double before = 0;  // embedding
  double attends = 0;
  double sends = 0;  // both ways
  double computes = 0;
  double after = 0;  // head
};

// Returns the times for a step that has one micro-batch and equal layers.
Parts parts_of(const Simulation& sim) {
  Parts out;
  for (std::size_t i = 0; i < sim.graph.ops.size(); ++i) {
    const Op& op = sim.graph.ops[i];
    const double time = to_seconds(sim.plans[i].uncontended(sim.system->channels()));
    const bool send = op.kind == OpKind::collective && op.collective.fabric == Fabric::ffn;
    if (op.layer < 0)
      (op.phase == Phase::embedding ? out.before : out.after) += time;
    else if (op.layer == 1)
      (send ? out.sends : op.role == GpuRole::ffn ? out.computes : out.attends) += time;
  }
  return out;
}

double scheduled(const Parts& part, int layers, int batches) {
  std::vector<double> back(static_cast<std::size_t>(batches), 0);  // from the last MLP
  double attention_free = 0;
  double mlp_free = 0;
  for (int layer = 0; layer < layers; ++layer)
    for (double& mine : back) {
      attention_free =
          std::max(attention_free, mine) + (layer == 0 ? part.before : 0) + part.attends;
      mlp_free = std::max(mlp_free, attention_free + part.sends / 2) + part.computes;
      mine = mlp_free + part.sends / 2;
    }
  for (const double mine : back) attention_free = std::max(attention_free, mine) + part.after;
  return attention_free;
}

// A dense model with equal layers. A micro-batch has 32 sequences in every case.
Settings dense(int batches) {
  return {"model.base=models/llama3_8b.yaml",
          "step.context=4096",
          "step.kv_type=fp8",
          fmt::format("step.batch={}", 32 * batches),
          "system.gpus={count: 1, hosts: 1}",
          "ffn.system.gpus={count: 1, hosts: 1}",
          "ffn.experts=split",
          fmt::format("ffn.micro_batches={}", batches)};
}

TEST(Afd, HasTheTimeOfThePingPongSchedule) {
  const Parts part = parts_of(run("qwen3_235b_gb200_5a1f.yaml", dense(1)));
  ASSERT_GT(part.attends, 0);
  ASSERT_GT(part.computes, 0);
  ASSERT_GT(part.sends, 0);
  for (const int batches : {1, 2, 3, 4, 6}) {
    const double time = value(run("qwen3_235b_gb200_5a1f.yaml", dense(batches)), "step_time_s");
    // Sends share the memory with kernels.
    EXPECT_NEAR(time / scheduled(part, 32, batches), 1, 0.01) << batches;
  }
}

TEST(Afd, TheSlowerKindNeverWaitsWithEnoughMicroBatches) {
  const Parts part = parts_of(run("qwen3_235b_gb200_5a1f.yaml", dense(1)));
  const double slower = std::max(part.attends, part.computes);
  const double round = part.attends + part.computes + part.sends;
  const int enough = static_cast<int>(std::ceil(round / slower));
  ASSERT_GT(enough, 2);
  const double closed = round + slower * (enough * 32 - 1);
  const Simulation sim = run("qwen3_235b_gb200_5a1f.yaml", dense(enough));
  const double ends = (part.before + part.after) * enough;
  EXPECT_GT(value(sim, "step_time_s"), closed);
  EXPECT_LT(value(sim, "step_time_s"), (closed + ends) * 1.01);
  const double busy =
      part.attends > part.computes ? value(sim, "attention_gpu_busy") : value(sim, "ffn_gpu_busy");
  EXPECT_GT(busy, 0.95);
  const Simulation fewer = run("qwen3_235b_gb200_5a1f.yaml", dense(enough - 1));
  EXPECT_LT(value(fewer, "throughput_tokens_per_s"), value(sim, "throughput_tokens_per_s"));
}

// The bytes of all GPUs that attend arrive at those with the MLPs, and as many come back.
TEST(Afd, WhatIsSentArrives) {
  for (const auto& [file, attend, ffn] :
       {std::tuple("qwen3_235b_gb200_5a1f.yaml", 20, 4), {"step3_h800_2a2f.yaml", 16, 16}}) {
    const Simulation sim = run(file, {"step.expert_load.law=even"});
    for (std::size_t i = 0; i < sim.graph.ops.size(); ++i) {
      const Op& op = sim.graph.ops[i];
      if (op.kind != OpKind::collective || op.collective.fabric != Fabric::ffn) continue;
      const bool there = op.role == GpuRole::main;
      const auto sent = static_cast<double>(op.collective.size.in_base()) * (there ? attend : ffn);
      const auto received =
          static_cast<double>(op.collective.received.in_base()) * (there ? ffn : attend);
      EXPECT_NEAR(sent / received, 1, 0.01) << file << ' ' << i;
    }
  }
}

// Groups that attend alike are one simulated GPU: what it sends does not grow with their number,
// and what arrives does.
TEST(Afd, MoreGroupsBringMoreTokensToTheSameExperts) {
  const Simulation few = run("qwen3_235b_gb200_5a1f.yaml",
                             {"system.gpus={count: 8, hosts: 2}", "step.expert_load.law=even"});
  const Simulation many = run("qwen3_235b_gb200_5a1f.yaml",
                              {"system.gpus={count: 16, hosts: 4}", "step.expert_load.law=even"});
  EXPECT_EQ(few.record.traffic_bytes.at("nvlink").write,
            many.record.traffic_bytes.at("nvlink").write);
  EXPECT_NEAR(static_cast<double>(many.record.traffic_bytes.at("ffn.nvlink").write) /
                  static_cast<double>(few.record.traffic_bytes.at("ffn.nvlink").write),
              2, 0.006);  // whole rows, of about 350
  EXPECT_EQ(few.record.footprint_bytes.at("hbm"), many.record.footprint_bytes.at("hbm"));
  EXPECT_GT(value(many, "ffn_gpu_busy"), value(few, "ffn_gpu_busy"));
}

TEST(Afd, PortsReadWhatTheOthersWrite) {
  const Simulation sim = run("qwen3_235b_gb200_5a1f.yaml", {"step.expert_load.law=even"});
  const ReadWrite& attends = sim.record.traffic_bytes.at("nvlink");
  const ReadWrite& computes = sim.record.traffic_bytes.at("ffn.nvlink");
  EXPECT_NEAR(
      20.0 * static_cast<double>(attends.write) / (4.0 * static_cast<double>(computes.read)), 1,
      0.01);
  EXPECT_NEAR(
      20.0 * static_cast<double>(attends.read) / (4.0 * static_cast<double>(computes.write)), 1,
      0.01);
}

TEST(Afd, AReserveHoldsOnBothKinds) {
  const Simulation half = run("step3_h800_2a2f.yaml", {"placement.near_share=0.75"});
  const Simulation whole = run("step3_h800_2a2f.yaml", {});
  for (const char* tier : {"hbm", "ffn.hbm"})
    EXPECT_NEAR(static_cast<double>(half.record.capacity_bytes.at(tier)) /
                    static_cast<double>(whole.record.capacity_bytes.at(tier)),
                0.75, 1e-6)
        << tier;
}

// The energy of a token has the numbers of both kinds behind it, and the cards are one kind here.
TEST(Afd, IntervalsCountTheNumbersOfBothKinds) {
  const Simulation sim = run("step3_h800_2a2f.yaml", {});
  const auto prices = uncertain_prices(sim.record);
  for (const char* number : {"gpu.active_power", "gpu.energy_per_flop"})
    for (const char* system : {"system.", "ffn.system."})
      EXPECT_TRUE(prices.contains(std::string(system) + number)) << system << number;
}

// GPUs of two kinds pay for the tokens together.
TEST(Afd, EnergyIsThatOfBothKinds) {
  const Simulation sim = run("qwen3_235b_gb200_5a1f.yaml", {});
  const double watts = value(sim, "gpu_energy_j_per_token") * value(sim, "throughput_tokens_per_s");
  EXPECT_NEAR(watts / (24 * value(sim, "power_w.mean")), 1, 1e-9);
  EXPECT_EQ(sim.record.gpus, 20);
  EXPECT_EQ(sim.record.ffn_gpus, 4);
}

}  // namespace
}  // namespace tiersim::afd_theory_test
