// The exception for an incorrect kernel.
#pragma once
#include <stdexcept>
#include <string>

namespace tiersim::emulator {

// A mistake of a kernel or its launch. what(): the mistake, the block, and the waiting threads'
// places.
class KernelFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Ends the launch with a KernelFailure that names the running thread and block.
[[noreturn]] void fail(const std::string& why);

}  // namespace tiersim::emulator
