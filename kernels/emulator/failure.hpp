// How the emulator says that a kernel is wrong.
#pragma once
#include <stdexcept>
#include <string>

namespace tiersim::emulator {

// A mistake of a kernel or its launch. what(): the mistake, the block, and where its threads wait.
class KernelFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Ends the launch: throws KernelFailure, with the thread and block where one is running.
[[noreturn]] void fail(const std::string& why);

}  // namespace tiersim::emulator
