#pragma once
// A value of a published table of servers in every declared choice, beside the printed one.
#include <functional>
#include <string>

#include "reports/papers/served_loads/served_loads.hpp"

namespace tiersim {

struct PublishedValue {
  double printed = 0;
  double near = 0;  ///< relative distance at which a simulated value is near
  std::function<double(std::size_t)> value = {};  ///< in this choice
  const std::vector<OpenChoice>* choices = nullptr;

  /// Relative, with its sign.
  double error(std::size_t choice) const { return value(choice) / printed - 1; }
  bool is_near(std::size_t choice) const;
  std::size_t closest() const;
  /// "'nominal' gives 480 (+20.0 %)"
  std::string told(std::size_t choice) const;
  /// prediction, explained, unexplained (served_loads.hpp)
  std::string status() const;
};

PublishedValue published_rate(const ServedLoadResults& r, std::size_t load, std::size_t server);
PublishedValue published_ratio(const ServedLoadResults& r, std::size_t load, std::size_t server);
/// The targets must have seats. The choices of the value are the declared rooms.
PublishedValue published_seats(const ServedLoadResults& r, std::size_t server);

}  // namespace tiersim
