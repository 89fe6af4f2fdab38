#include "hwmodels/packet/pcie/tlp_channel.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {
namespace {

constexpr SimTime kNever = SimTime::max();

std::int64_t limit_of(const std::optional<Sourced<std::int64_t>>& credits) {
  return credits ? credits->value : Credits::kUnlimited;
}

}  // namespace

TlpChannel::TlpChannel(Engine& engine, const PciePacketConfig& config, Options options)
    : engine_(engine),
      wire_(config, options.raw),
      relaxed_(config.relaxed_ordering),
      announce_headers_(options.announce_headers),
      ack_every_(bytes_between_acks(config).in_base()),
      inputs_(options.inputs),
      turns_(options.inputs),
      look_at_(kNever) {
  const PcieCredits& c = config.credits;
  headers_ = {Credits(limit_of(c.posted_headers)), Credits(limit_of(c.read_headers)),
              Credits(limit_of(c.completion_headers))};
  data_ = {Credits(limit_of(c.posted_data)), Credits(Credits::kUnlimited),
           Credits(limit_of(c.completion_data))};
  if (!options.weights.empty()) {
    TS_EXPECTS(options.weights.size() == options.inputs, options.weights.size(), options.inputs);
    const Bytes largest = config.max_payload.value + config.request_header.value;
    weighted_.emplace(std::move(options.weights), largest.in_base());
  }
}

void TlpChannel::offer(std::size_t input, const Tlp& tlp, SimTime ready) {
  inputs_[input].queues[index(tlp.tlp_class)].push({tlp, ready, order_++});
  ++entered_;
  if (!sending_) look();
}

bool TlpChannel::may_leave(const Input& input, std::size_t tlp_class) {
  const FifoRing<Waiting>& queue = input.queues[tlp_class];
  if (queue.empty()) return false;
  const Waiting& head = queue.front();
  if (head.ready > engine_.now()) {
    earliest_ = std::min(earliest_, head.ready);
    return false;
  }
  constexpr auto kPosted = static_cast<std::size_t>(TlpClass::posted);
  if (tlp_class != kPosted && !relaxed_) {
    const FifoRing<Waiting>& posted = input.queues[kPosted];
    if (!posted.empty() && posted.front().order < head.order) return false;
  }
  return headers_[tlp_class].can_take(1) && data_[tlp_class].can_take(data_credits(head.tlp));
}

std::optional<std::size_t> TlpChannel::class_to_send(const Input& input) {
  std::optional<std::size_t> oldest;
  for (std::size_t c = 0; c < kTlpClasses; ++c) {
    if (!may_leave(input, c)) continue;
    if (!oldest || input.queues[c].front().order < input.queues[*oldest].front().order) oldest = c;
  }
  return oldest;
}

std::optional<std::size_t> TlpChannel::next_input() {
  if (inputs_.size() == 1) return 0;
  if (!weighted_) {
    return turns_.pick([this](std::size_t i) { return class_to_send(inputs_[i]).has_value(); });
  }
  return weighted_->pick([this](std::size_t i) -> std::int64_t {
    const Input& input = inputs_[i];
    if (const auto c = class_to_send(input)) {
      return wire_.size_of(input.queues[*c].front().tlp).in_base();
    }
    for (const auto& queue : input.queues) {
      if (!queue.empty()) return WeightedRoundRobin::kBlocked;
    }
    return 0;
  });
}

void TlpChannel::look() {
  earliest_ = kNever;
  if (const auto input = next_input()) {
    if (const auto c = class_to_send(inputs_[*input])) {
      transmit(inputs_[*input], *input, *c);
      return;
    }
  }
  if (earliest_ < look_at_) {
    look_at_ = earliest_;
    engine_.schedule(earliest_, *this, kLook);
  }
}

void TlpChannel::transmit(Input& input, std::size_t input_index, std::size_t tlp_class) {
  sent_ = input.queues[tlp_class].pop().tlp;
  sent_input_ = input_index;
  const bool taken = headers_[tlp_class].take(1) && data_[tlp_class].take(data_credits(sent_));
  TS_INVARIANT(taken, tlp_class);
  const TlpWire::Passage passage = wire_.send(engine_.now(), sent_);
  on_wire_.push({sent_, passage.arrives});
  engine_.schedule(announce_headers_ ? passage.header_arrives : passage.arrives, *this, kArrived);
  sending_ = true;
  engine_.schedule(passage.free, *this, kSent);
}

void TlpChannel::on_event(Engine& engine, std::uint64_t what) {
  switch (what) {
    case kLook:
      if (look_at_ == engine.now()) look_at_ = kNever;
      if (!sending_) look();
      return;
    case kSent: {
      sending_ = false;
      TlpSource* const source = inputs_[sent_input_].source;
      if (source != nullptr) source->departed(sent_);
      if (!sending_) look();
      return;
    }
    case kArrived:
      return arrived();
    case kUpdate:
      return send_update();
    default: {
      const Freed freed = updates_.pop();
      for (std::size_t c = 0; c < kTlpClasses; ++c) {
        headers_[c].give(engine, freed.headers[c]);
        data_[c].give(engine, freed.data[c]);
      }
      if (!sending_) look();
      return;
    }
  }
}

void TlpChannel::arrived() {
  const OnWire packet = on_wire_.pop();
  ++delivered_;
  if (wire_.answering()) acknowledge(packet.tlp);
  receiver_->receive(packet.tlp, packet.tail);
}

// The other direction sends one acknowledgement for every `ack_every` bytes received.
void TlpChannel::acknowledge(const Tlp& tlp) {
  unacknowledged_ += wire_.size_of(tlp).in_base();
  if (unacknowledged_ < ack_every_) return;
  unacknowledged_ %= ack_every_;
  other_->wire_.send_link_packet(engine_.now());
}

bool TlpChannel::limited(std::size_t tlp_class) const {
  return headers_[tlp_class].limit() != Credits::kUnlimited ||
         data_[tlp_class].limit() != Credits::kUnlimited;
}

// A class without a limit sends no updates, as the specification states.
void TlpChannel::release(const Tlp& tlp) {
  const std::size_t c = index(tlp.tlp_class);
  if (!limited(c)) {
    headers_[c].give(engine_, 1);
    data_[c].give(engine_, data_credits(tlp));
    return;
  }
  freed_.headers[c] += 1;
  freed_.data[c] += data_credits(tlp);
  if (update_pending_) return;
  update_pending_ = true;
  const SimTime now = engine_.now();
  const SimTime when = last_update_ ? std::max(now, *last_update_ + wire_.update_interval()) : now;
  engine_.schedule(when, *this, kUpdate);
}

void TlpChannel::send_update() {
  update_pending_ = false;
  last_update_ = engine_.now();
  SimTime leaves = engine_.now();
  if (wire_.answering()) {
    for (const std::int64_t headers : freed_.headers) {
      if (headers > 0) other_->wire_.send_link_packet(engine_.now());
    }
    leaves = other_->wire_.free_at();
  }
  updates_.push(freed_);
  freed_ = {};
  engine_.schedule(leaves + wire_.flight(), *this, kUpdateArrived);
}

std::int64_t TlpChannel::credits_issued() const {
  std::int64_t sum = 0;
  for (const auto* credits : {&headers_, &data_}) {
    for (const Credits& each : *credits) sum += each.issued();
  }
  return sum;
}
std::int64_t TlpChannel::credits_held() const {
  std::int64_t sum = 0;
  for (const auto* credits : {&headers_, &data_}) {
    for (const Credits& each : *credits) sum += each.held();
  }
  return sum;
}

}  // namespace tiersim
