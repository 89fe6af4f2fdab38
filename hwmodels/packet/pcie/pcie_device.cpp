#include "hwmodels/packet/pcie/pcie_device.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {
namespace {

/// Packets that an engine keeps in front of the wire: one leaves while the next one is made.
constexpr std::int64_t kAhead = 2;
constexpr std::uint64_t kEnded = 2;  // payloads 0 and 1 are the engines' wake-ups

}  // namespace

PcieDevice::PcieDevice(Engine& engine, const PciePacketConfig& config, std::uint16_t index,
                       Owner& owner)
    : engine_(engine),
      owner_(owner),
      index_(index),
      max_payload_(config.max_payload.value.in_base()),
      max_read_request_(config.max_read_request.value.in_base()),
      latency_(config.requester.latency.value),
      tags_(config.requester.tags.value),
      in_use_(static_cast<std::size_t>(config.requester.tags.value)) {
  queue_of(Direction::read).interval = config.requester.read_interval.value;
  queue_of(Direction::write).interval = config.requester.write_interval.value;
  if (config.requester.internal_rate) internal_rate_ = config.requester.internal_rate->value;
  for (std::size_t tag = in_use_.size(); tag > 0; --tag) {
    free_tags_.push_back(static_cast<std::uint32_t>(tag - 1));
  }
}

void PcieDevice::connect(TlpChannel& up, TlpChannel& down) {
  up_ = &up;
  down_ = &down;
  up.connect(0, *this);
  down.connect(*this);
}

void PcieDevice::start(Direction direction, std::uint64_t address, Bytes size, std::uint64_t name) {
  TS_EXPECTS(size.in_base() > 0, size);
  if (free_transfers_.empty()) {
    free_transfers_.push_back(static_cast<std::uint32_t>(transfers_.size()));
    transfers_.emplace_back();
  }
  const std::uint32_t index = free_transfers_.back();
  free_transfers_.pop_back();
  const std::int64_t bytes = size.in_base();
  transfers_[index] = {name, address, bytes, bytes, bytes, direction};
  queue_of(direction).transfers.push(index);
  pump(direction);
}

void PcieDevice::pump(Direction direction) {
  Queue& queue = queue_of(direction);
  while (!queue.transfers.empty() && queue.packets_ahead < kAhead) {
    const std::uint32_t index = queue.transfers.front();
    if (!begin(queue, transfers_[index], direction)) return;
    if (direction == Direction::read && !tags_.can_take(1)) return;
    request(index, queue);
    if (transfers_[index].to_request == 0) queue.transfers.pop();
  }
}

// True where the transfer has begun already, or may begin now.
bool PcieDevice::begin(Queue& queue, const Transfer& transfer, Direction direction) {
  if (transfer.to_request < transfer.size) return true;
  if (direction == Direction::read && !tags_.can_take(1)) return false;
  if (queue.next_start > engine_.now()) {
    if (!queue.woken_later) {
      queue.woken_later = true;
      engine_.schedule(queue.next_start, *this, static_cast<std::uint64_t>(direction));
    }
    return false;
  }
  queue.next_start = engine_.now() + queue.interval;
  return true;
}

void PcieDevice::request(std::uint32_t index, Queue& queue) {
  Transfer& transfer = transfers_[index];
  const bool read = transfer.direction == Direction::read;
  const std::int64_t length = request_length(transfer.address, transfer.to_request,
                                             read ? max_read_request_ : max_payload_);
  Tlp tlp{.address = transfer.address,
          .request = index,
          .payload = read ? 0 : static_cast<std::int32_t>(length),
          .length = static_cast<std::int32_t>(length),
          .device = index_,
          .tlp_class = read ? TlpClass::read : TlpClass::posted};
  if (read) {
    const bool taken = tags_.take(1);
    TS_INVARIANT(taken, tags_.held());
    tlp.request = free_tags_.back();
    free_tags_.pop_back();
    in_use_[tlp.request] = {index, length};
  }
  transfer.address += static_cast<std::uint64_t>(length);
  transfer.to_request -= length;
  ++queue.packets_ahead;
  up_->offer(0, tlp, engine_.now());
}

void PcieDevice::departed(const Tlp& tlp) {
  const Direction direction = tlp.tlp_class == TlpClass::read ? Direction::read : Direction::write;
  --queue_of(direction).packets_ahead;
  pump(direction);
}

void PcieDevice::receive(const Tlp& tlp, SimTime /*tail*/) {
  Tag& tag = in_use_[tlp.request];
  TS_INVARIANT(tag.left >= tlp.payload, tag.left, tlp.payload);
  tag.left -= tlp.payload;
  const std::uint32_t transfer = tag.transfer;
  down_->release(tlp);
  if (tag.left == 0) {
    free_tags_.push_back(tlp.request);
    tags_.give(engine_, 1);
  }
  finish_part(transfer, tlp.payload);
  if (tag.left == 0) pump(Direction::read);
}

void PcieDevice::written(const Tlp& tlp) {
  finish_part(tlp.request, tlp.payload);
}

void PcieDevice::finish_part(std::uint32_t index, std::int64_t bytes) {
  Transfer& transfer = transfers_[index];
  transfer.to_finish -= bytes;
  if (transfer.to_finish > 0) return;
  Duration rest = latency_;
  if (internal_rate_ && transfer.direction == Direction::read) {
    rest += Bytes::from_base(transfer.size) / *internal_rate_;
  }
  engine_.schedule(engine_.now() + rest, *this, kEnded + index);
}

void PcieDevice::on_event(Engine&, std::uint64_t payload) {
  if (payload < kEnded) {
    queues_[payload].woken_later = false;
    pump(static_cast<Direction>(payload));
    return;
  }
  const auto index = static_cast<std::uint32_t>(payload - kEnded);
  free_transfers_.push_back(index);
  owner_.ended(index_, transfers_[index].name);
}

}  // namespace tiersim
