#pragma once
// Fills a RunRecord from the readings of a simulation.
#include <map>
#include <string>
#include <vector>

#include "sim/step/simulate.hpp"

namespace tiersim {

class TimeClasses;

/// One GPU's share of a replica: its part of the model, and of `batch` sequences.
DeviceRecord device_record(const ScenarioConfig& config, const System& system, std::int64_t batch);

/// The metrics of energy and money of a run at the prices of `config`, which differs from the run's
/// configuration in them alone.
struct PricedStep {
  std::map<std::string, Metric> metrics;  ///< their classes without that of the times
  std::vector<std::string> unstated;      ///< as StepCosts has them
};
PricedStep priced_step(const ScenarioConfig& config, const Simulation& sim);

class Recorder {
 public:
  Recorder(const ScenarioConfig& config, Simulation& simulation)
      : config_(config), sim_(simulation), record_(simulation.record) {}

  /// Configuration, run id, and the provenance of its numbers. Call this first. `classes`: those of
  /// earlier runs that differ only in values of numbers.
  void provenance(Provenance extent, TimeClasses* classes = nullptr);
  /// Footprint and traffic, which need no clock.
  void accounting(Results results = Results::all);
  /// The results of the bound.
  void bound();
  /// The results of the engine, and the costs. Call this after bound().
  void times();
  /// The results of speculation. `plain`: time of the step without it. Call this after times().
  void speculation(Duration plain);

 private:
  void metric(std::string_view name, double value, NumberClass number_class);
  /// A metric counted from the model's published dimensions and the method's settings.
  void counted(std::string_view name, double value);
  void counted(std::string_view name, Bytes bytes);
  double handover_seconds() const;
  double pipelined(double time, double handover) const;
  void device();
  void tables();
  void footprint_metrics();
  void far_metrics();
  void screening_metrics();
  void channels();
  void phases();
  void costs();
  void kernels();
  Duration kernels(GpuRole role);
  /// The weakest class behind the family's times: of its basis and of the devices that it waits
  /// for.
  NumberClass class_of(KernelFamily family, GpuRole role, const KernelBasis& basis) const;

  const ScenarioConfig& config_;
  Simulation& sim_;
  RunRecord& record_;
  NumberClass time_class_ = NumberClass::measured;
};

}  // namespace tiersim
