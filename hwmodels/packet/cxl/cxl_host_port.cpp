#include "hwmodels/packet/cxl/cxl_host_port.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

CxlHostPort::CxlHostPort(Engine& engine, const CxlPacketConfig& config, std::uint16_t index,
                         std::int64_t outstanding, Interleave interleave, Owner& owner)
    : engine_(engine),
      owner_(owner),
      index_(index),
      interleave_(interleave),
      before_(config.host.latency.value / 2),
      after_(config.host.latency.value - before_),
      window_(std::min(outstanding, config.host.outstanding.value)) {}

void CxlHostPort::connect(FlitChannel& down, FlitChannel& up) {
  down_ = &down;
  up_ = &up;
  up.connect(*this);
}

void CxlHostPort::start(Direction direction, std::uint64_t address, std::int64_t lines,
                        std::uint64_t name) {
  TS_EXPECTS(lines > 0, lines);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(accesses_.size()));
    accesses_.emplace_back();
  }
  const std::uint32_t access = free_.back();
  free_.pop_back();
  accesses_[access] = {engine_.now(), address, name, lines, lines, direction};
  waiting_.push(access);
  pump();
}

void CxlHostPort::pump() {
  while (!waiting_.empty() && window_.take(1)) {
    const std::uint32_t index = waiting_.front();
    Access& access = accesses_[index];
    const bool read = access.direction == Direction::read;
    const std::uint64_t granule = access.address / interleave_.granule;
    down_->offer(0,
                 {.address = access.address,
                  .access = index,
                  .host = index_,
                  .device = static_cast<std::uint16_t>(granule % interleave_.devices),
                  .message_class = read ? CxlClass::request : CxlClass::write},
                 engine_.now() + before_);
    access.address += static_cast<std::uint64_t>(kCxlLine);
    if (--access.to_send == 0) waiting_.pop();
  }
}

void CxlHostPort::receive(const CxlMessage& message) {
  up_->release(message);
  engine_.schedule(engine_.now() + after_, *this, message.access);
}

void CxlHostPort::on_event(Engine& engine, std::uint64_t index) {
  window_.give(engine, 1);
  Access& access = accesses_[index];
  if (--access.to_finish == 0) {
    free_.push_back(static_cast<std::uint32_t>(index));
    const Access done = access;  // a copy: the owner may start another access in its place
    owner_.access_ended(index_, done.name, done.direction, done.since);
  }
  pump();
}

}  // namespace tiersim
