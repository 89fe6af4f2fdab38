#include "hwmodels/packet/cxl/flit_channel.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

FlitChannel::FlitChannel(Engine& engine, const CxlPacketConfig& config, Options options)
    : engine_(engine),
      wire_(flit_rate(config, options.raw), config.flight.value),
      flit_(config.flit.value),
      credit_way_(wire_.flight() + flit_ / wire_.rate()),
      slots_(slots_in_flit(config)),
      inputs_(options.inputs),
      turns_(options.inputs) {
  const CxlCredits& c = config.credits;
  credits_ = {Credits(c.requests.value), Credits(c.writes.value), Credits(c.responses.value),
              Credits(c.responses.value)};
  if (!options.weights.empty()) {
    TS_EXPECTS(options.weights.size() == options.inputs, options.weights.size(), options.inputs);
    weighted_.emplace(std::move(options.weights), slot_bytes(CxlClass::write));
  }
}

void FlitChannel::offer(std::size_t input, const CxlMessage& message, SimTime ready) {
  inputs_[input].queues[index(message.message_class)].push({message, ready, order_++});
  ++entered_;
  ++waiting_;
  none_may_go_ = false;
  if (!sending_ && !packing_) look();
}

// Among the classes whose first message may go now, the one that has waited longest.
std::optional<std::size_t> FlitChannel::class_to_send(const Input& input) {
  std::optional<std::size_t> oldest;
  for (std::size_t c = 0; c < kCxlClasses; ++c) {
    const FifoRing<Waiting>& queue = input.queues[c];
    if (queue.empty()) continue;
    if (queue.front().ready > engine_.now()) {
      earliest_ = std::min(earliest_, queue.front().ready);
      continue;
    }
    if (!credits_[c].can_take(1)) continue;
    if (!oldest || queue.front().order < input.queues[*oldest].front().order) oldest = c;
  }
  return oldest;
}

std::optional<FlitChannel::Next> FlitChannel::next() {
  if (waiting_ == 0 || none_may_go_) return std::nullopt;
  if (!weighted_) {
    std::optional<std::size_t> c;
    const auto input = turns_.pick([&](std::size_t i) {
      c = class_to_send(inputs_[i]);
      return c.has_value();
    });
    none_may_go_ = !input;
    if (!input) return std::nullopt;
    return Next{*input, *c};
  }
  const auto input = weighted_->pick([this](std::size_t i) -> std::int64_t {
    if (const auto c = class_to_send(inputs_[i])) return slot_bytes(static_cast<CxlClass>(*c));
    for (const auto& queue : inputs_[i].queues) {
      if (!queue.empty()) return WeightedRoundRobin::kBlocked;
    }
    return 0;
  });
  if (!input) return std::nullopt;
  return Next{*input, *class_to_send(inputs_[*input])};
}

void FlitChannel::look() {
  earliest_ = SimTime::max();
  none_may_go_ = false;
  packing_ = true;
  pack();
  packing_ = false;
  if (sending_ || earliest_ >= look_at_) return;
  look_at_ = earliest_;
  engine_.schedule(earliest_, *this, kLook);
}

// Fills the slots of one flit, and sends it unless it is empty.
void FlitChannel::pack() {
  const std::int64_t used_before = half_slots_used_;
  ending_ = 0;
  std::int64_t slot = 0;
  if (owed_slots_ >= slots_) {
    for (; slot < slots_; ++slot) pack_data();
  } else if (const std::int64_t half_slots = pack_headers(); half_slots > 0 || owed_slots_ > 0) {
    half_slots_used_ += half_slots;
    for (slot = 1; slot < slots_; ++slot) {
      if (owed_slots_ > 0)
        pack_data();
      else
        half_slots_used_ += pack_headers();
    }
  }
  if (half_slots_used_ == used_before) return;
  const Wire::Passage passage = wire_.send(engine_.now(), flit_);
  sending_ = true;
  engine_.schedule(passage.leaves, *this, kFree);
  if (ending_ == 0) return;
  ends_.push(ending_);
  engine_.schedule(passage.arrives, *this, kArrived);
}

// Packs one slot of headers (a single one, or two responses), and returns its half slots.
std::int64_t FlitChannel::pack_headers() {
  const std::int64_t first = pack_header();
  return first == 1 ? first + pack_header() : first;
}
// Packs one header and returns its half slots; 0 without a header.
std::int64_t FlitChannel::pack_header() {
  const auto going = next();
  if (!going) return 0;
  Input& input = inputs_[going->input];
  const std::size_t c = going->message_class;
  const CxlMessage message = input.queues[c].pop().message;
  --waiting_;
  const bool taken = credits_[c].take(1);
  TS_INVARIANT(taken, c);
  const std::int64_t slots = data_slots(message.message_class);
  if (slots > 0) {
    owed_.push({message, slots});
    owed_slots_ += slots;
  } else {
    on_wire_.push(message);
    ++ending_;
  }
  if (input.source != nullptr) input.source->departed(message);
  return 2 / headers_in_slot(message.message_class);
}

void FlitChannel::pack_data() {
  Owed& front = owed_.front();
  --owed_slots_;
  half_slots_used_ += 2;
  if (--front.slots > 0) return;
  on_wire_.push(front.message);
  ++ending_;
  owed_.pop();
}

void FlitChannel::on_event(Engine& engine, std::uint64_t what) {
  switch (what) {
    case kLook:
      if (look_at_ == engine.now()) look_at_ = SimTime::max();
      if (!sending_) look();
      return;
    case kFree:
      sending_ = false;
      return look();
    case kArrived:
      return arrived();
    default:
      credits_[what - kCredit].give(engine, 1);
      if (!sending_) look();
      return;
  }
}

void FlitChannel::arrived() {
  for (std::int64_t left = ends_.pop(); left > 0; --left) {
    ++delivered_;
    receiver_->receive(on_wire_.pop());
  }
}

void FlitChannel::release(const CxlMessage& message) {
  engine_.schedule(engine_.now() + credit_way_, *this, kCredit + index(message.message_class));
}

double FlitChannel::slots_used() const {
  const std::int64_t half_slots = 2 * slots_ * flits();
  return half_slots == 0 ? 0.0
                         : static_cast<double>(half_slots_used_) / static_cast<double>(half_slots);
}

}  // namespace tiersim
