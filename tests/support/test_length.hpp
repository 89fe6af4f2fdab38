#pragma once
// How long a random or statistical test runs.
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace tiersim::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kUnderSanitizer = true;
#else
inline constexpr bool kUnderSanitizer = false;
#endif
#else
inline constexpr bool kUnderSanitizer = false;
#endif

/// ctest sets TIERSIM_NIGHTLY=1 for the tests that it names <layer>.nightly.*.
inline bool is_nightly() {
  const char* set = std::getenv("TIERSIM_NIGHTLY");
  return set && std::string_view(set) == "1";
}

/// Draws of a property: a few in continuous integration, a tenth of them under a sanitizer, where
/// each takes ten times as long, and many at night.
inline int draws_of(int in_ci, int nightly) {
  if (is_nightly()) return nightly;
  return kUnderSanitizer ? (in_ci + 9) / 10 : in_ci;
}

/// All of these cases; under a sanitizer each fifth of them from the first on, but at night.
template <class Case>
std::vector<Case> some_of(const std::vector<Case>& all) {
  if (!kUnderSanitizer || is_nightly()) return all;
  constexpr std::size_t kStride = 5;
  std::vector<Case> some;
  for (std::size_t i = 0; i < all.size(); i += kStride) some.push_back(all[i]);
  return some;
}

/// Each `stride`-th of these cases from the first on; all of them at night. In a test that loops:
/// the list of parameterised tests is made when they are built.
template <class Case>
std::vector<Case> part_of(const std::vector<Case>& all, std::size_t stride) {
  if (is_nightly()) return all;
  std::vector<Case> part;
  for (std::size_t i = 0; i < all.size(); i += stride) part.push_back(all[i]);
  return part;
}

}  // namespace tiersim::testing
