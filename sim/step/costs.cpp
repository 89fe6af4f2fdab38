#include "sim/step/costs.hpp"

#include <algorithm>

namespace tiersim {
namespace {

constexpr double kSecondsPerYear = 365.25 * 86'400;

class Sum {
 public:
  Sum(const SystemConfig& config, const System& system, const Accounting& accounting, Duration time)
      : config_(config), system_(system), accounting_(accounting), time_(time) {}

  StepCosts total() {
    add_gpu();
    std::size_t device = 0;  // tiers, then links, as in System::device_names()
    for (const auto& [name, tier] : config_.tiers)
      add_device(name, tier.memory.costs, DeviceId(device++), tier.unit_count(), true);
    for (const auto& [name, link] : config_.links)
      add_device(name, link.costs, DeviceId(device++), 1, false);
    StepCosts out{.joules = {},
                  .usd = {},
                  .joules_class = energy_class_,
                  .usd_class = weakest(energy_class_, price_class_),
                  .unstated = unstated_};
    if (!energy_whole_) return out;
    out.joules = joules_;
    if (!config_.economics || !price_whole_) return out;
    const EconomicsConfig& e = *config_.economics;
    for (const NumberClass c : {e.amortisation_years.number_class, e.utilisation.number_class,
                                e.electricity.number_class})
      out.usd_class = weakest(out.usd_class, c);
    const double working = e.amortisation_years.value * kSecondsPerYear * e.utilisation.value;
    constexpr double kJoulesPerKilowattHour = 3.6e6;
    const double usd_per_joule =
        static_cast<double>(e.electricity.value.in_base()) * 1e-9 / kJoulesPerKilowattHour;
    out.usd = price_ * to_seconds(time_) / working + joules_ * usd_per_joule;
    return out;
  }

 private:
  void add_gpu() {
    const DeviceCosts& costs = config_.gpu.costs;
    if (costs.energy_per_flop) {
      joules_ += to_joules(accounting_.flops * costs.energy_per_flop->value);
      note(energy_class_, costs.energy_per_flop->number_class);
    } else {
      lacks("gpu", "energy_per_flop", energy_whole_);
    }
    add_idle(costs, 1);
    if (!costs.idle_power) unstated_.emplace_back("gpu: idle_power");
    if (costs.price) {
      price_ += to_usd(costs.price->value);
      note(price_class_, costs.price->number_class);
    } else {
      lacks("gpu", "price", price_whole_);
    }
  }

  void add_device(const std::string& name, const DeviceCosts& costs, DeviceId id,
                  std::int64_t units, bool is_tier) {
    const auto& [read, write] = accounting_.traffic[id.index()];
    const Bytes moved = total_of(read) + total_of(write);
    if (moved > Bytes{}) {
      if (costs.energy_per_byte) {
        joules_ += to_joules(moved * costs.energy_per_byte->value);
        note(energy_class_, costs.energy_per_byte->number_class);
      } else {
        lacks(name, "energy_per_byte", energy_whole_);
      }
    }
    const std::int64_t sharers = system_.sharers(id);
    const double each = static_cast<double>(units) / static_cast<double>(sharers);
    add_idle(costs, each);
    if (costs.price) {
      price_ += to_usd(costs.price->value) * each;
      note(price_class_, costs.price->number_class);
    }
    if (is_tier && costs.price_per_byte) {
      price_ += to_usd(system_.installed(TierId(id.index())) * costs.price_per_byte->value) /
                static_cast<double>(sharers);
      note(price_class_, costs.price_per_byte->number_class);
    }
    bool whole = !is_tier || price_whole_;
    if (!costs.price && !costs.price_per_byte) lacks(name, "price", whole);
    if (is_tier) price_whole_ = whole;
  }

  void add_idle(const DeviceCosts& costs, double devices) {
    if (!costs.idle_power) return;
    joules_ += to_joules(costs.idle_power->value * time_) * devices;
    note(energy_class_, costs.idle_power->number_class);
  }

  static void note(NumberClass& weakest_so_far, NumberClass c) {
    weakest_so_far = weakest(weakest_so_far, c);
  }
  void lacks(const std::string& device, const char* field, bool& whole) {
    unstated_.push_back(device + ": " + field);
    whole = false;
  }
  static Bytes total_of(const TrafficSum& sum) { return tiersim::total(sum.moved); }

  const SystemConfig& config_;
  const System& system_;
  const Accounting& accounting_;
  Duration time_;
  double joules_ = 0;
  double price_ = 0;
  bool energy_whole_ = true;
  bool price_whole_ = true;
  NumberClass energy_class_ = NumberClass::measured;
  NumberClass price_class_ = NumberClass::measured;
  std::vector<std::string> unstated_;
};

}  // namespace

bool only_in_costs(std::string_view path) {
  if (path.starts_with("system.economics.")) return true;
  const std::string_view key = path.substr(path.rfind('.') + 1);
  return path.starts_with("system.") && std::ranges::find(kCostKeys, key) != kCostKeys.end();
}

StepCosts costs_of(const SystemConfig& config, const System& system, const Accounting& accounting,
                   Duration time) {
  return Sum(config, system, accounting, time).total();
}

}  // namespace tiersim
