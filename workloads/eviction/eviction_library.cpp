#include "sim/base/check.hpp"
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {

void register_all_evictions(Registry<EvictionKind>& registry);  // generated

const Registry<EvictionKind>& eviction_library() {
  static const Registry<EvictionKind> library = [] {
    Registry<EvictionKind> out;
    register_all_evictions(out);
    return out;
  }();
  return library;
}

std::unique_ptr<EvictionPolicy> make_eviction(std::string_view name, std::int64_t capacity) {
  const EvictionKind* kind = eviction_library().find(name);
  TS_EXPECTS(kind != nullptr, name);
  TS_EXPECTS(capacity > 0, capacity);
  return kind->make(capacity);
}

}  // namespace tiersim
