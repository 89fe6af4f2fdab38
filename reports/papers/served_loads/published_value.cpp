#include "reports/papers/served_loads/published_value.hpp"

#include <cmath>

#include <fmt/format.h>

namespace tiersim {

bool PublishedValue::is_near(std::size_t choice) const {
  return std::abs(error(choice)) <= near;
}

std::size_t PublishedValue::closest() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < choices->size(); ++i)
    if (std::abs(error(i)) < std::abs(error(best))) best = i;
  return best;
}

std::string PublishedValue::told(std::size_t choice) const {
  return fmt::format("'{}' gives {:.4g} ({:+.1f} %)", (*choices)[choice].label, value(choice),
                     100 * error(choice));
}

std::string PublishedValue::status() const {
  if (is_near(0)) return "prediction";
  return is_near(closest()) ? "explained" : "unexplained";
}

PublishedValue published_rate(const ServedLoadResults& r, std::size_t load, std::size_t server) {
  return {.printed = r.targets.loads[load].tokens_per_s[server],
          .near = r.targets.near,
          .value = [&r, load, server](std::size_t c) { return r.at(c, load, server).tokens_per_s; },
          .choices = &r.targets.cells};
}

PublishedValue published_ratio(const ServedLoadResults& r, std::size_t load, std::size_t server) {
  return {.printed = r.targets.loads[load].printed_ratio(server),
          .near = load == 0 ? r.targets.near_first : r.targets.near,
          .value = [&r, load, server](std::size_t c) { return r.ratio(c, load, server); },
          .choices = &r.targets.cells};
}

PublishedValue published_seats(const ServedLoadResults& r, std::size_t server) {
  return {
      .printed = static_cast<double>(r.targets.seats->printed[server]),
      .near = r.targets.near_first,
      .value = [&r, server](std::size_t c) { return static_cast<double>(r.seats_at(c, server)); },
      .choices = &r.targets.seats->rooms};
}

}  // namespace tiersim
