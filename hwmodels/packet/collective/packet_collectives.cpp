#include "hwmodels/packet/collective/packet_collectives.hpp"
#include "sim/core/engine.hpp"

#include <algorithm>

namespace tiersim {

PacketCollectives::PacketCollectives(Engine& engine, const CollectiveProbeConfig& config,
                                     const Collective& flow, PacketFabric& fabric)
    : engine_(engine), config_(config), flow_(flow), fabric_(fabric) {}

const PacketCollectives::Plan& PacketCollectives::plan_of(const CollectiveWork& work) {
  const auto [at, made] = plans_.try_emplace({work.kind, work.ranks, work.size.in_base()});
  if (!made) return at->second;
  CollectiveQuestion question{.kind = work.kind, .ranks = work.ranks, .bytes = work.size};
  const NamedAlgorithm chosen = chosen_algorithm(flow_, config_, question);
  question.algorithm = chosen.algorithm;
  question.protocol = chosen.protocol;
  Plan& plan = at->second;
  plan.schedule = schedule_of(config_, question);
  plan.timing = timing_of(config_, question, plan.schedule);
  return plan;
}

void PacketCollectives::start(const CollectiveWork& work, std::size_t first_port,
                              EventHandler& done, std::uint64_t tag) {
  TS_EXPECTS(work.ranks > 1 && work.size > Bytes{}, work.ranks, work.size);
  const Plan& plan = plan_of(work);
  auto free = std::ranges::find(runs_, nullptr, &Run::done);
  if (free == runs_.end()) free = runs_.insert(runs_.end(), Run{});
  const CollectiveFabrics fabrics{
      .nodes = {&fabric_}, .network = nullptr, .first_port = first_port};
  *free = {std::make_unique<CollectiveRun>(engine_, fabrics, plan.schedule, plan.timing, this,
                                           static_cast<std::uint64_t>(free - runs_.begin())),
           &done, tag};
  free->run->start();
}

// The run that calls this function is kept until another one takes its place.
void PacketCollectives::on_done(Engine& engine, std::uint64_t run) {
  Run& ended = runs_[run];
  engine.schedule(engine.now(), *ended.done, ended.tag);
  ended.done = nullptr;
}

}  // namespace tiersim
