#include "hwmodels/calibrate/read/plausibility.hpp"
#include "hwmodels/calibrate/read/read_timings.hpp"
#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::fuzz {

void read_kernel_timings(std::string_view text) {
  const auto timings = read_timings("timings", text, {});
  if (!timings) {
    promise(!timings.error().ok(), "refused without a mistake");
    return expect_places(timings.error());
  }
  (void)check_timings(*timings);
}

}  // namespace tiersim::fuzz
