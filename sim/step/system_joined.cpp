// A system with a second kind of GPUs, which have the MLPs of a step (workloads/llm/ffn_share.hpp).
#include <algorithm>
#include <utility>

#include "sim/step/system.hpp"

namespace tiersim {

void System::join(std::shared_ptr<const System> ffn) {
  TS_EXPECTS(!ffn_ && !ffn->ffn_);
  ffn_ = std::move(ffn);
  const auto named = [](const std::string& name) { return std::string(kFfnPrefix) + name; };
  for (const std::string& name : ffn_->tier_names_) tier_names_.push_back(named(name));
  for (const std::string& name : ffn_->device_names_) device_names_.push_back(named(name));
  sharers_.insert(sharers_.end(), ffn_->sharers_.begin(), ffn_->sharers_.end());
  packet_models_.resize(device_names_.size());
  for (SystemChannel channel : ffn_->channels_) {
    channel.name = named(channel.name);
    if (channel.device.valid()) channel.device = DeviceId(channel.device.index() + own_devices());
    channels_.push_back(std::move(channel));
  }
}

DeviceId System::device(TierId tier) const {
  const std::size_t i = tier.index();
  return DeviceId(i < tiers_.size() ? i : own_devices() + i - tiers_.size());
}

bool System::counts_sms(ChannelId channel) const {
  const std::size_t i = channel.index();
  if (i < own_channel_count_ || !ffn_) return sms_ && i == *sms_;
  return ffn_->counts_sms(ChannelId(i - own_channel_count_));
}

Op System::at_role(const Op& op, GpuRole role) const {
  Op out = op;
  out.role = GpuRole::main;
  out.after = {};
  out.accesses = {};
  for (Access access : op.accesses) {
    const bool is_own = access.tier.index() < tiers_.size();
    if (is_own != (role == GpuRole::main)) continue;
    if (!is_own) access.tier = TierId(access.tier.index() - tiers_.size());
    out.accesses.push_back(access);
  }
  return out;
}

void System::shift(OpPlan& plan) const {
  for (ChannelCharge& charge : plan.charges)
    charge.channel = ChannelId(charge.channel.index() + own_channel_count_);
  for (DeviceTraffic& part : plan.traffic)
    part.device = DeviceId(part.device.index() + own_devices());
}

OpPlan System::plan_joined(const Op& op) const {
  TS_EXPECTS(ffn_ != nullptr);
  OpPlan plan;
  if (op.kind == OpKind::collective && op.collective.fabric == Fabric::ffn) {
    plan = plan_exchange(op);
  } else {
    plan = ffn_->plan(at_role(op, GpuRole::ffn));
    shift(plan);
  }
  plan.role = op.role;
  return plan;
}

// One flow through the ports and memories of both ends, each with its own bytes.
OpPlan System::plan_exchange(const Op& op) const {
  const bool out = op.role == GpuRole::main;
  const Op sent = at_role(op, out ? GpuRole::main : GpuRole::ffn);
  Op received = at_role(op, out ? GpuRole::ffn : GpuRole::main);
  received.collective.size = op.collective.received;
  const System& sender = out ? *this : *ffn_;
  const System& receiver = out ? *ffn_ : *this;
  OpPlan plan = sender.plan_collective(sent);
  OpPlan receipt = receiver.plan_receipt(received);
  shift(out ? receipt : plan);
  plan.charges.insert(out ? plan.charges.end() : plan.charges.begin(), receipt.charges.begin(),
                      receipt.charges.end());
  plan.traffic.insert(plan.traffic.end(), receipt.traffic.begin(), receipt.traffic.end());
  plan.min_duration = std::max(plan.min_duration, receipt.min_duration);
  plan.setup = std::max(plan.setup, receipt.setup);
  plan.payload += receipt.payload;
  return plan;
}

}  // namespace tiersim
