#pragma once
// Quantities as text for people: three or four significant digits and a fitting unit. This text is
// never parsed; units_text.hpp has the canonical text.
#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace tiersim {

std::string display(Bytes bytes);          ///< "512 GiB", binary units
std::string display(Bandwidth bandwidth);  ///< "4.8 TB/s"
std::string display(FlopRate rate);        ///< "989 TFLOP/s"
std::string display(Flops flops);          ///< "1.73 TFLOP"
std::string display(Duration duration);    ///< "12.3 ms"
std::string display(Energy energy);        ///< "1.25 J"
std::string display(Power power);          ///< "700 W"
std::string display(Money money);          ///< "30000 USD"

/// Text of a number that is given in the base unit of a metric: 0.01235 s is "12.35 ms", bytes are
/// shown as "3 GiB", and a ratio as "41.2 %". A unit without multiples gives the number alone.
std::string display(double value, std::string_view unit);

}  // namespace tiersim
