// Runs a kernel's Case on the emulator under every kind of schedule and compares it with its
// reference and its formulas.
#pragma once
#include <functional>
#include <memory>

#include "kernels/cases/case.hpp"
#include "kernels/emulator/block.hpp"

namespace tiersim::kernels {

// Sets the options of the emulated card for a scope.
class EmulatorOptions {
 public:
  explicit EmulatorOptions(const emulator::Options& options);
  ~EmulatorOptions();
  EmulatorOptions(const EmulatorOptions&) = delete;
  EmulatorOptions& operator=(const EmulatorOptions&) = delete;

 private:
  emulator::Options before_;
};

using MakeCase = std::function<std::unique_ptr<Case>()>;

// Checks under six schedules (orders, landings, seeds): outputs are within the tolerance of the
// float64 reference, and all counted bytes and multiply-adds equal work(). Fails the running test
// if not.
void expect_right_and_counted(const MakeCase& make);

// One schedule only, for large shapes. Returns the agreement for further assertions.
Agreement expect_right_under(const MakeCase& make, const emulator::Options& options);

// True where the planted mistake is found: at least one of the six schedules throws KernelFailure
// or disagrees with the reference.
bool is_caught(const MakeCase& make);

}  // namespace tiersim::kernels
