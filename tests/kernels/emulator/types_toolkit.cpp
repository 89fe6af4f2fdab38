#include "tests/kernels/emulator/types_answers.hpp"
namespace tiersim::kernels {
TypesBits toolkit_types() {
  return kAnswers;
}
}  // namespace tiersim::kernels
