// The entry point that libFuzzer calls; TIERSIM_FUZZ_READER is a function of readers.hpp.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/readers/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* text = reinterpret_cast<const char*>(data);
  tiersim::fuzz::TIERSIM_FUZZ_READER(size == 0 ? std::string_view() : std::string_view(text, size));
  return 0;
}
