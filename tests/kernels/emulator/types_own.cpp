#include "tests/kernels/emulator/types_answers.inc"
namespace tiersim::kernels {
TypesBits own_types() {
  return kAnswers;
}
}  // namespace tiersim::kernels
