// Runs a kernel's Case on the emulator under every kind of schedule and holds it to its reference
// and to its formulas.
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

// Under six schedules (orders, landings, seeds): outputs within the case's tolerance of the float64
// reference, and all bytes and multiply-adds counted equal to work(). Fails the running test if
// not.
void expect_right_and_counted(const MakeCase& make);

// One schedule only: for shapes that take long. Returns the agreement for further assertions.
Agreement expect_right_under(const MakeCase& make, const emulator::Options& options);

// Does the planted mistake show? Runs the six schedules; true if at least one throws KernelFailure
// or disagrees with the reference.
bool is_caught(const MakeCase& make);

}  // namespace tiersim::kernels
