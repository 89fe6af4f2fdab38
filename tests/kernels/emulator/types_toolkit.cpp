#include "tests/kernels/emulator/types_answers.inc"
namespace tiersim::kernels {
TypesBits toolkit_types() {
  return kAnswers;
}
}  // namespace tiersim::kernels
