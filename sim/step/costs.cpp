#include "sim/step/costs.hpp"

#include <algorithm>
#include <limits>

namespace tiersim {
namespace {

constexpr double kSecondsPerYear = 365.25 * 86'400;
constexpr double kSecondsPerHour = 3'600;

class Sum {
 public:
  Sum(const SystemConfig& config, const System& system, const PoweredWork& work)
      : config_(config), system_(system), work_(work) {}

  StepCosts total() {
    add_gpu();
    std::size_t device = 0;  // tiers, then links, as in System::device_names()
    for (const auto& [name, tier] : config_.tiers)
      add_device(name, tier.memory.costs, DeviceId(device++), tier.unit_count(), true);
    for (const auto& [name, link] : config_.links)
      add_device(name, link.costs, DeviceId(device++), 1, false);
    StepCosts out{.joules = {},
                  .gpu_joules = {},
                  .usd = {},
                  .joules_class = energy_class_,
                  .usd_class = weakest(energy_class_, price_class_),
                  .unstated = unstated_};
    if (energy_whole_) {
      out.gpu_joules = std::min(sum_of(gpu_), most_of_gpus());
      out.joules = *out.gpu_joules + sum_of(others_);
    }
    if (config_.economics) add_money(*config_.economics, out);
    return out;
  }

 private:
  struct Part {
    double working_joules = 0;  // of a GPU at work
    double idle_watts = 0;      // of a GPU and its share of the devices
  };
  double sum_of(const Part& part) const {
    return part.working_joules * static_cast<double>(work_.working_gpus) +
           part.idle_watts * to_seconds(work_.on) * static_cast<double>(work_.on_gpus);
  }

  // The board keeps its power, or the limit, on average.
  double most_of_gpus() const {
    const ComputePower& power = config_.gpu.power;
    double watts = std::numeric_limits<double>::infinity();
    if (power.board_power) watts = to_watts(power.board_power->value);
    if (power.power_limit) watts = std::min(watts, to_watts(*power.power_limit));
    return watts * to_seconds(work_.on) * static_cast<double>(work_.on_gpus);
  }

  void add_money(const EconomicsConfig& e, StepCosts& out) const {
    const double paid = to_seconds(work_.on) * static_cast<double>(work_.on_gpus) /
                        e.utilisation.value;  // GPU-seconds
    if (e.rent_per_hour) {
      out.usd = to_usd(e.rent_per_hour->value) / kSecondsPerHour * paid;
      out.usd_class = weakest(e.rent_per_hour->number_class, e.utilisation.number_class);
      return;
    }
    if (!out.joules || !price_whole_) return;
    for (const NumberClass c : {e.amortisation_years.number_class, e.utilisation.number_class,
                                e.electricity.number_class})
      out.usd_class = weakest(out.usd_class, c);
    constexpr double kJoulesPerKilowattHour = 3.6e6;
    const double usd_per_joule =
        static_cast<double>(e.electricity.value.in_base()) * 1e-9 / kJoulesPerKilowattHour;
    out.usd = price_ * paid / (e.amortisation_years.value * kSecondsPerYear) +
              *out.joules * usd_per_joule;
  }

  void add_gpu() {
    const DeviceCosts& costs = config_.gpu.costs;
    if (costs.energy_per_flop) {
      constexpr double kJoules = 1e-18;  // in one aJ
      gpu_.working_joules +=
          work_.flops * static_cast<double>(costs.energy_per_flop->value.in_base()) * kJoules;
      note(energy_class_, costs.energy_per_flop->number_class);
    } else {
      lacks("gpu", "energy_per_flop", energy_whole_);
    }
    if (const auto& active = config_.gpu.power.active_power) {
      gpu_.working_joules += to_watts(active->value) * to_seconds(work_.active);
      note(energy_class_, active->number_class);
    }
    add_idle(costs, 1, gpu_);
    if (!costs.idle_power) unstated_.emplace_back("gpu: idle_power");
    const bool named = config_.economics && config_.economics->gpu_price;
    if (const auto& price = named ? config_.economics->gpu_price : costs.price) {
      price_ += to_usd(price->value);
      note(price_class_, price->number_class);
    } else if (!is_rented()) {
      lacks("gpu", "price", price_whole_);
    }
  }

  void add_device(const std::string& name, const DeviceCosts& costs, DeviceId id,
                  std::int64_t units, bool is_tier) {
    const auto tier = is_tier ? config_.tiers.find(name) : config_.tiers.end();
    Part& part = tier != config_.tiers.end() && tier->second.path.empty() ? gpu_ : others_;
    const Bytes moved = work_.moved[id.index()];
    if (moved > Bytes{}) {
      if (costs.energy_per_byte) {
        constexpr double kJoules = 1e-15;  // in one fJ
        part.working_joules += static_cast<double>(moved.in_base()) *
                               static_cast<double>(costs.energy_per_byte->value.in_base()) *
                               kJoules;
        note(energy_class_, costs.energy_per_byte->number_class);
      } else {
        lacks(name, "energy_per_byte", energy_whole_);
      }
    }
    const std::int64_t sharers = system_.sharers(id);
    const double each = static_cast<double>(units) / static_cast<double>(sharers);
    add_idle(costs, each, part);
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
    if (!costs.price && !costs.price_per_byte && !is_rented()) lacks(name, "price", whole);
    if (is_tier) price_whole_ = whole;
  }

  void add_idle(const DeviceCosts& costs, double devices, Part& part) {
    if (!costs.idle_power) return;
    part.idle_watts += to_watts(costs.idle_power->value) * devices;
    note(energy_class_, costs.idle_power->number_class);
  }

  bool is_rented() const {
    return config_.economics && config_.economics->rent_per_hour.has_value();
  }

  static void note(NumberClass& weakest_so_far, NumberClass c) {
    weakest_so_far = weakest(weakest_so_far, c);
  }
  void lacks(const std::string& device, const char* field, bool& whole) {
    unstated_.push_back(device + ": " + field);
    whole = false;
  }

  const SystemConfig& config_;
  const System& system_;
  const PoweredWork& work_;
  Part gpu_;          // with its own memories
  Part others_;       // all other devices
  double price_ = 0;  // of a GPU and its share of the devices
  bool energy_whole_ = true;
  bool price_whole_ = true;
  NumberClass energy_class_ = NumberClass::measured;
  NumberClass price_class_ = NumberClass::measured;
  std::vector<std::string> unstated_;
};

// The path within the system that the number is of.
std::string_view in_system(std::string_view path) {
  if (path.starts_with(kFfnPrefix)) path.remove_prefix(kFfnPrefix.size());
  return path;
}

bool is_in_limited_power(std::string_view path, const SystemConfig& config) {
  if (!config.gpu.power.power_limit || path.ends_with("price") || path.ends_with("price_per_gb"))
    return false;
  if (path.starts_with("system.gpu.")) return true;
  return std::ranges::any_of(config.tiers, [&](const auto& entry) {
    const auto& [name, tier] = entry;
    return tier.path.empty() && path == "system.tiers." + name + ".memory.energy_per_byte";
  });
}

}  // namespace

bool is_cost_number(std::string_view path) {
  path = in_system(path);
  if (path.starts_with("system.economics.")) return true;
  const std::string_view key = path.substr(path.rfind('.') + 1);
  return path.starts_with("system.") && std::ranges::find(kCostKeys, key) != kCostKeys.end();
}

bool only_in_costs(std::string_view path, const ScenarioConfig& config) {
  const bool of_ffn = config.ffn && path.starts_with(kFfnPrefix);
  const SystemConfig& system = config_of(config, of_ffn ? GpuRole::ffn : GpuRole::main).system;
  return is_cost_number(path) && !is_in_limited_power(in_system(path), system);
}

StepCosts costs_of(const SystemConfig& config, const System& system, const Accounting& accounting,
                   Duration time, GpuRole role) {
  const ActiveWork& active = accounting.work[static_cast<std::size_t>(role)];
  PoweredWork work{
      .flops = static_cast<double>(active.flops.in_base()), .active = active.active, .on = time};
  const std::size_t first = role == GpuRole::ffn ? system.own_devices() : 0;
  const std::size_t last = role == GpuRole::ffn ? accounting.traffic.size() : system.own_devices();
  for (std::size_t device = first; device < last; ++device) {
    const auto& [read, write] = accounting.traffic[device];
    work.moved.push_back(total(read.moved) + total(write.moved));
  }
  return costs_of(config, system.of_role(role), work);
}

StepCosts with_ffn(const StepCosts& main, const StepCosts& ffn, double share) {
  const auto sum = [&](std::optional<double> StepCosts::*of) -> std::optional<double> {
    if (!(main.*of) || !(ffn.*of)) return std::nullopt;
    return *(main.*of) + share * *(ffn.*of);
  };
  StepCosts out{.joules = sum(&StepCosts::joules),
                .gpu_joules = sum(&StepCosts::gpu_joules),
                .usd = sum(&StepCosts::usd),
                .joules_class = weakest(main.joules_class, ffn.joules_class),
                .usd_class = weakest(main.usd_class, ffn.usd_class),
                .unstated = main.unstated};
  for (const std::string& number : ffn.unstated) out.unstated.push_back("ffn." + number);
  return out;
}

StepCosts costs_of(const SystemConfig& config, const System& system, const PoweredWork& work) {
  return Sum(config, system, work).total();
}

}  // namespace tiersim
