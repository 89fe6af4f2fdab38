#include "workloads/attention/method.hpp"

namespace tiersim {

void register_all_methods(Registry<MethodKind>& registry);  // generated

Registry<MethodKind> make_method_library() {
  Registry<MethodKind> library;
  register_all_methods(library);
  return library;
}

}  // namespace tiersim
