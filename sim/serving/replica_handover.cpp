// The cache of a prompt on its way from the replica that reads it to the one that answers: all of
// it after the prompt, or parts while the prompt is read (HandOverSend).
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "sim/core/engine.hpp"
#include "sim/serving/replica.hpp"
#include "sim/serving/replica_copies.hpp"
#include "workloads/attention/kv_ops.hpp"

namespace tiersim {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// A layer that is sent by itself is a contiguous run of its own in every memory layout.
Bytes run_of(const ServingParts& pool, Bytes bytes) {
  const bool by_layer = pool.config.server.hand_over_send() == HandOverSend::by_layer;
  const std::vector<Bytes>& runs = by_layer ? pool.layout.run_bytes : runs_of(pool);
  return std::clamp(*std::ranges::max_element(runs), Bytes::from_base(1), bytes);
}

// The part of one GPU of the pool that sends or receives.
Op hand_over_op(const ServingParts& pool, Bytes bytes) {
  const Bytes run = run_of(pool, bytes);
  Op op{.kind = OpKind::collective,
        .phase = Phase::kv_transfer,
        .requester = RequesterKind::copy_engine,
        .flops = {},
        .collective = {
            .kind = CollectiveKind::send, .fabric = Fabric::transfer, .size = bytes, .ranks = 2}};
  add_access(op, pool.system.tier(pool.config.scenario.placement.near), Direction::read,
             {TensorClass::keys, bytes, run});
  return op;
}

}  // namespace

bool Replica::expect(Sequence& s) {
  const auto waits = [](const Sequence* other) { return other->reserved == 0; };
  if (std::ranges::any_of(come_, waits)) return false;
  if (!scheduler_now().reserve(s, handed_positions(s))) return false;
  s.destination = index_;
  count(s);
  count_held();
  return true;
}

// The last position of a prompt is the first one that the other replica decodes, where that gives
// the first token.
std::int64_t Replica::handed_positions(const Sequence& s) const {
  return s.prompt - (parts_.config.server.first_token() == FirstToken::decode ? 1 : 0);
}

// A prompt that gives all of its answer here is not handed over.
void Replica::reserve_elsewhere(Sequence& s) {
  if (s.destination >= 0) return;
  if (s.request.output_tokens == 1 && !scheduler_.limits().gives_no_token) return;
  s.reader = index_;
  sink_.expected(s);
}

// When a layer of the model has been computed, all keys and values that the piece adds to it may be
// sent. All layers take the same time.
std::shared_ptr<Trigger> Replica::begin_sends(const Iteration& iteration, Duration time) {
  const HandOverSend send = parts_.config.server.hand_over_send();
  if (!prefills_only_ || send == HandOverSend::at_end) return nullptr;
  for (const Iteration::Piece& piece : iteration.pieces) reserve_elsewhere(*piece.sequence);
  auto computed = std::make_shared<Trigger>(parts_.engine);
  if (send == HandOverSend::by_layer)
    send_pieces(iteration,
                {.first_layer = time / parts_.config.scenario.model.layers, .computed = computed});
  return computed;
}

void Replica::end_sends(const Iteration& iteration, Trigger& computed) {
  computed.fire();
  if (parts_.config.server.hand_over_send() == HandOverSend::by_piece) send_pieces(iteration, {});
}

void Replica::send_pieces(const Iteration& iteration, const PartTiming& timing) {
  for (const auto& [s, tokens, executed, before] : iteration.pieces)
    if (s->destination >= 0) sink_.send(*s, before + tokens, timing);
}

// Sequence::sent counts the positions whose blocks have been sent or are being sent.
// Sequence::coming counts the parts that are still on their way. The whole cache has arrived when
// no part is on its way and the prompt has been read, which is when Sequence::source is set.
void Replica::receive_part(Sequence& s, std::int64_t positions, PartTiming timing) {
  const std::int64_t all = std::max(s.sent, std::min(positions, handed_positions(s)));
  const std::int64_t blocks = scheduler_.blocks_between(s.sent, all);
  s.sent = all;
  if (blocks == 0) return;
  ++s.coming;
  parts_.engine.spawn(take_part(s, blocks, std::move(timing)));
}

Process Replica::take_part(Sequence& s, std::int64_t blocks, PartTiming timing) {
  SequenceMove what{{MoveKind::handover, blocks, 1, 0}, &s};
  if (timing.computed) {
    const std::int64_t last = ceil_div(blocks, parts_.config.scenario.model.layers);
    co_await parts_.engine.delay(timing.first_layer);
    what.move.blocks = blocks - last;
    if (what.move.blocks > 0) {
      const Process layers = move(what);
      co_await layers;
    }
    ListWait end = timing.computed->wait();
    co_await end;
    what.move.blocks = last;
  }
  const Process moving = move(what);
  co_await moving;
  if (--s.coming == 0 && s.source >= 0) all_has_come(s);
}

void Replica::all_has_come(Sequence& s) {
  if (s.moves > 0) scheduler_now().arrived({{MoveKind::handover, s.blocks, 1, 0}, &s});
  has_come(s);
  wake();
}

// The replica that read the prompt may free its blocks.
void Replica::has_come(Sequence& s) {
  if (parts_.config.server.first_token() == FirstToken::with_handover)
    s.first_token = s.last_token = parts_.engine.now();
  sink_.received(std::exchange(s.source, -1), s);
}

// Parts of equal size, as many as both pipelines can be cut into: part p goes from the stage that
// has it to the stage that gets it.
Process Replica::hand_over(std::int64_t from, const HandOver& what) {
  if (what.parts == 1) {
    const Process moving =
        sender().hardware.copy(sending_group(from, what, 0), what.sent, receiver_of(what, 0));
    co_await moving;
    co_return;
  }
  Semaphore ended(parts_.engine, 0);
  for (std::int64_t part = 0; part < what.parts; ++part)
    parts_.engine.spawn(copy_part(sender().hardware, sending_group(from, what, part), what.sent,
                                  receiver_of(what, part), ended));
  for (std::int64_t part = 0; part < what.parts; ++part) {
    Semaphore::Acquire one = ended.acquire();
    co_await one;
  }
}

// The group that has a part of the cache of this replica.
std::int64_t Replica::sending_group(std::int64_t replica, const HandOver& what,
                                    std::int64_t part) const {
  const std::int64_t stages = sender().config.scenario.parallel.pipeline;
  return (replica - sender().first) * stages + part * stages / what.parts;
}

ServingHardware::Receiver Replica::receiver_of(const HandOver& what, std::int64_t part) const {
  return {.hardware = &parts_.hardware,
          .group = group(part * std::ssize(stages_) / what.parts),
          .plan = what.received};
}

// The receiving GPUs get what they keep of the blocks; the GPUs that have them send it in equal
// parts.
Replica::HandOver Replica::plan_hand_over(const BlockMove& what) const {
  const std::int64_t receiving = std::ssize(stages_);
  HandOver out;
  out.parts = std::lcm(sender().config.scenario.parallel.pipeline, receiving);
  const Bytes all = parts_.layout.gathered() * (what.blocks * receiving);
  const auto bytes_of = [&](const ServingParts& pool) {
    return part_of(all, out.parts * pool.layout.gpus_of_block);
  };
  const auto op_of = [&](const ServingParts& pool) { return hand_over_op(pool, bytes_of(pool)); };
  out.sent = spread(sender().system.plan(op_of(sender())), sender().layout.pools, sender().system);
  out.received =
      spread(parts_.system.plan_receipt(op_of(parts_)), parts_.layout.pools, parts_.system);
  return out;
}

}  // namespace tiersim
