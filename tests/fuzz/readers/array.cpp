#include "tests/fuzz/readers/readers.hpp"
#include "workloads/numerics/npy.hpp"

namespace tiersim::fuzz {

void read_array(std::string_view text) {
  const auto array = numerics::read_npy(text);
  if (array) {
    (void)numerics::shape_text(array->shape);
    return;
  }
  promise(array.error().offset <= text.size(), "a place behind the file");
  promise(!array.error().what.empty(), "no words");
}

}  // namespace tiersim::fuzz
