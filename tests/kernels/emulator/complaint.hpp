// Runs the body of a kernel and returns the error of the emulator.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "kernels/emulator/launch.hpp"

namespace tiersim::kernels {

struct Shape {
  unsigned threads = 32;
  std::size_t shared_bytes = 0;
  unsigned blocks = 1;
  emulator::Options options = {};
};

// The message of KernelFailure; empty where the launch succeeded.
inline std::string complaint(const Shape& shape, const std::function<void()>& body) {
  emulator::Machine& card = emulator::machine();
  const emulator::Options before = card.options;
  card.options = shape.options;
  std::string said;
  try {
    emulator::run_grid(dim3(shape.blocks), dim3(shape.threads), shape.shared_bytes, body);
  } catch (const emulator::KernelFailure& failure) {
    said = failure.what();
  }
  card.options = before;
  return said;
}

}  // namespace tiersim::kernels
