#include "sim/validate/fidelity_map_accesses.hpp"

#include <algorithm>

#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"

namespace tiersim {
namespace {

using enum LevelMeasure::Kind;

constexpr std::int64_t kNoLimit = std::int64_t{1} << 50;  // B/s, the largest capacity of a link

double giga_per_second(double bytes, Duration time) {
  return bytes / to_seconds(time) / kGiga;
}

// The end of each access, and its progress at the end of the first one.
struct Ends {
  std::vector<Duration> at;
  std::vector<double> moved;  // bytes
  std::uint64_t events = 0;

  Duration last() const { return *std::ranges::max_element(at); }
  Duration first() const { return *std::ranges::min_element(at); }
};

Duration least_of(const LevelAccess& access) {
  Duration least = access.least;
  for (const LevelAccess::Part& part : access.parts)
    least = std::max(least, part.cost.min_duration);
  return least;
}

Ends alone(const std::vector<LevelAccess>& accesses) {
  Ends out;
  for (const LevelAccess& access : accesses) {
    Duration longest = least_of(access);
    for (const LevelAccess::Part& part : access.parts)
      for (const Charge& charge : part.cost.charges)
        longest = std::max(longest, charge.busy / part.device->channels()[charge.channel].capacity);
    out.at.push_back(access.latency + longest);
  }
  for (std::size_t i = 0; i < accesses.size(); ++i)
    out.moved.push_back(static_cast<double>(accesses[i].payload.in_base()) *
                        to_seconds(out.first()) / to_seconds(out.at[i]));
  return out;
}

// Every access begins at 0, waits for its latency and is then a flow.
class Together final : public EventHandler {
 public:
  explicit Together(const std::vector<LevelAccess>& accesses) : asks_(accesses), network_(engine_) {
    ends_.at.resize(accesses.size());
    share_of_payload_.resize(accesses.size());
    for (std::size_t i = 0; i < accesses.size(); ++i)
      own_.push_back(network_.add_link("own", Bandwidth::from_base(kNoLimit)));
  }

  Ends run() {
    for (std::size_t i = 0; i < asks_.size(); ++i)
      engine_.schedule(SimTime(asks_[i].latency), *this, 2 * i);
    engine_.run();
    ends_.events = engine_.events();
    return ends_;
  }

  void on_event(Engine&, std::uint64_t payload) override {
    const std::size_t i = payload / 2;
    if (payload % 2 == 0) return begin(i);
    ends_.at[i] = engine_.now().time_since_epoch();
    if (!ends_.moved.empty()) return;
    for (std::size_t k = 0; k < asks_.size(); ++k) {
      const auto moved = static_cast<double>(network_.stats(own_[k]).payload_moved.in_base());
      ends_.moved.push_back(moved * share_of_payload_[k]);
    }
  }

 private:
  using Instance = std::pair<const Device*, std::size_t>;

  LinkId link_of(const LevelAccess::Part& part, std::size_t channel) {
    std::vector<LinkId>& links = links_[numbered(Instance{part.device, part.instance})];
    if (links.empty())
      for (const Channel& each : part.device->channels())
        links.push_back(network_.add_link(each.name, each.capacity));
    return links[channel];
  }
  // Numbered by first use, so that no order depends on addresses.
  std::size_t numbered(const Instance& instance) {
    const auto found = std::ranges::find(instances_, instance);
    if (found != instances_.end()) return static_cast<std::size_t>(found - instances_.begin());
    instances_.push_back(instance);
    links_.emplace_back();
    return instances_.size() - 1;
  }

  void begin(std::size_t i) {
    const LevelAccess& access = asks_[i];
    std::vector<Hop> hops;
    Bytes widest = Bytes::from_base(1);
    for (const LevelAccess::Part& part : access.parts)
      for (const Charge& charge : part.cost.charges) {
        widest = std::max(widest, charge.busy);
        hops.push_back({link_of(part, charge.channel), charge.busy});
      }
    if (access.weight > 0) widest = access.payload;
    hops.push_back({own_[i], widest});
    share_of_payload_[i] = access.payload / widest;
    network_.start({.hops = hops,
                    .payload = widest,
                    .weight = std::max<std::int64_t>(1, access.weight),
                    .min_duration = least_of(access)},
                   *this, 2 * i + 1);
  }

  const std::vector<LevelAccess>& asks_;
  Engine engine_;
  FlowNetwork network_;
  std::vector<LinkId> own_;  // of each access, without other flows
  std::vector<Instance> instances_;
  std::vector<std::vector<LinkId>> links_;  // by instance and channel
  std::vector<double> share_of_payload_;    // payload per byte of the flow
  Ends ends_;
};

}  // namespace

std::string unit_of(LevelMeasure::Kind kind) {
  if (kind == time) return "us";
  return kind == time_of_one ? "ns" : "GB/s";
}

void add_part(LevelAccess& access, const Device& device, AccessCost cost, std::size_t instance) {
  access.parts.push_back({&device, instance, std::move(cost)});
}

LevelAccess ask_of(const Device& device, Direction direction, Bytes payload, Bytes run,
                   std::size_t instance) {
  LevelAccess access{.payload = payload};
  add_part(access, device, device.cost(direction, payload, run), instance);
  return access;
}

Duration latency_of(const LevelAccess& access) {
  Duration sum{};
  for (const LevelAccess::Part& part : access.parts) sum += part.cost.latency;
  return sum;
}

LevelAnswer answer_of(const std::vector<LevelAccess>& accesses, LevelMeasure measure,
                      Fidelity level) {
  TS_EXPECTS(level != Fidelity::packet && measure.index < accesses.size(), measure.index);
  const Ends ends = level == Fidelity::flow ? Together(accesses).run() : alone(accesses);
  LevelAnswer out{.events = ends.events};
  for (const LevelAccess& access : accesses) out.simulated += access.payload;
  switch (measure.kind) {
    case rate:
      out.value = giga_per_second(static_cast<double>(out.simulated.in_base()), ends.last());
      break;
    case rate_of_one:
      out.value = giga_per_second(ends.moved[measure.index], ends.first());
      break;
    case time:
      out.value = to_seconds(ends.last()) * 1e6;
      break;
    case time_of_one:
      out.value = to_seconds(ends.at[measure.index]) * 1e9;
      break;
  }
  return out;
}

}  // namespace tiersim
