#include "hwmodels/packet/cxl/cxl_device_box.hpp"
#include "sim/core/engine.hpp"

#include <string>

namespace tiersim {

CxlDeviceBox::CxlDeviceBox(Engine& engine, const CxlPacketConfig& config, std::uint16_t index,
                           MemoryPort* memory)
    : engine_(engine),
      before_(config.device.latency.value / 2),
      after_(config.device.latency.value - before_),
      memory_(memory),
      tail_(config.device.tail),
      rng_(tail_ ? static_cast<std::uint64_t>(tail_->seed) : 0,
           "cxl device " + std::to_string(index) + " tail"),
      at_work_(config.device.outstanding.value) {
  if (memory_ != nullptr) return;
  fixed_latency_ = config.device.memory_latency.value;
  if (!config.device.memory_rate) return;
  own_memory_ = std::make_unique<FixedMemory>(config.device.memory_rate->value, fixed_latency_);
  fixed_latency_ = Duration(0);
  memory_ = own_memory_.get();
}

void CxlDeviceBox::connect(FlitChannel& down, FlitChannel& up) {
  down_ = &down;
  up_ = &up;
  down.connect(*this);
  up.connect(0, *this);
}

void CxlDeviceBox::receive(const CxlMessage& message) {
  if (at_work_.take(1)) return work_on(message);
  waiting_.push(message);
}

void CxlDeviceBox::work_on(const CxlMessage& message) {
  down_->release(message);
  if (memory_ == nullptr) return answer_later(message, before_ + fixed_latency_ + after_);
  if (const auto taken = memory_->time_of(engine_, request_of(message), engine_.now() + before_))
    return answer_later(message, before_ + *taken + after_);
  engine_.call_after(before_, [this, message] { ask_memory(message); });
}

MemoryPort::Request CxlDeviceBox::request_of(const CxlMessage& message) {
  const bool read = message.message_class == CxlClass::request;
  return {.address = message.address,
          .size = Bytes::from_base(kCxlLine),
          .direction = read ? Direction::read : Direction::write};
}

void CxlDeviceBox::ask_memory(const CxlMessage& message) {
  if (free_places_.empty()) {
    free_places_.push_back(static_cast<std::uint32_t>(at_memory_.size()));
    at_memory_.emplace_back();
  }
  const std::uint32_t place = free_places_.back();
  free_places_.pop_back();
  at_memory_[place] = message;
  MemoryPort::Request request = request_of(message);
  request.tag = place;
  memory_->serve(engine_, request, *this);
}

void CxlDeviceBox::served(std::uint64_t place) {
  free_places_.push_back(static_cast<std::uint32_t>(place));
  answer_later(at_memory_[place], after_);
}

void CxlDeviceBox::answer_later(const CxlMessage& message, Duration delay) {
  engine_.call_after(delay + tail(), [this, message] { answer(message); });
}

Duration CxlDeviceBox::tail() {
  if (!tail_ || rng_.uniform() >= tail_->share.value) return Duration(0);
  const auto mean = static_cast<double>(tail_->mean.value.count());
  return Duration(static_cast<std::int64_t>(rng_.exponential(mean)));
}

void CxlDeviceBox::answer(CxlMessage message) {
  const bool read = message.message_class == CxlClass::request;
  message.message_class = read ? CxlClass::data : CxlClass::no_data;
  up_->offer(0, message, engine_.now());
}

void CxlDeviceBox::departed(const CxlMessage&) {
  at_work_.give(engine_, 1);
  if (waiting_.empty()) return;
  const bool taken = at_work_.take(1);
  TS_INVARIANT(taken, at_work_.held());
  work_on(waiting_.pop());
}

}  // namespace tiersim
