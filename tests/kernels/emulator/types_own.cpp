#include "tests/kernels/emulator/types_answers.hpp"
namespace tiersim::kernels {
TypesBits own_types() {
  return kAnswers;
}
}  // namespace tiersim::kernels
