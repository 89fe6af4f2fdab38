#include "sim/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace tiersim::detail {

void check_failed(const char* kind, const char* condition, const char* file, int line,
                  const char* names, std::initializer_list<CheckValue> values) {
  std::fprintf(stderr, "%s:%d: %s violated: %s", file, line, kind, condition);
  if (values.size() != 0) {
    std::fprintf(stderr, " [%s =", names);
    for (const CheckValue& value : values) std::fprintf(stderr, " %s", value.text.c_str());
    std::fputc(']', stderr);
  }
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace tiersim::detail
