#include "hwmodels/calibrate/read/iso_date.hpp"

#include <chrono>

namespace tiersim {
namespace {

constexpr std::int64_t kDay = 86'400;  // s

// True where `text` has digits at the zeros of `form`, and equals it everywhere else.
bool has_form(std::string_view text, std::string_view form) {
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == '0' ? !digit : text[i] != form[i]) return false;
  }
  return true;
}

// `text` consists of digits.
int number(std::string_view text) {
  int out = 0;
  for (const char digit : text) out = 10 * out + (digit - '0');
  return out;
}

// Seconds that local time in a zone is ahead of UTC.
std::optional<std::int64_t> zone_offset(std::string_view text) {
  if (text == "Z") return 0;
  if (!has_form(text, "+00:00") && !has_form(text, "-00:00")) return std::nullopt;
  const int hours = number(text.substr(1, 2));
  const int minutes = number(text.substr(4, 2));
  if (hours > 14 || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (std::int64_t{3600} * hours + std::int64_t{60} * minutes);
}

}  // namespace

std::optional<IsoDate> parse_iso_date(std::string_view text) {
  namespace chrono = std::chrono;
  constexpr std::size_t kDayLength = 10;
  constexpr std::size_t kTimeLength = 19;
  if (!has_form(text.substr(0, kDayLength), "0000-00-00")) return std::nullopt;
  const chrono::year_month_day date{chrono::year(number(text.substr(0, 4))),
                                    chrono::month(static_cast<unsigned>(number(text.substr(5, 2)))),
                                    chrono::day(static_cast<unsigned>(number(text.substr(8, 2))))};
  if (!date.ok()) return std::nullopt;
  IsoDate out{chrono::sys_days(date).time_since_epoch().count(), std::nullopt};
  if (text.size() == kDayLength) return out;
  if (!has_form(text.substr(kDayLength, kTimeLength - kDayLength), "T00:00:00"))
    return std::nullopt;
  const int hour = number(text.substr(11, 2));
  const int minute = number(text.substr(14, 2));
  const int second = number(text.substr(17, 2));
  const auto before = zone_offset(text.substr(kTimeLength));
  if (hour > 23 || minute > 59 || second > 60 || !before) return std::nullopt;
  const std::int64_t local = std::int64_t{3600} * hour + std::int64_t{60} * minute + second;
  const std::int64_t all = out.day * kDay + local - *before;
  const std::int64_t within = ((all % kDay) + kDay) % kDay;
  return IsoDate{(all - within) / kDay, within};
}

DateOrder date_order(const IsoDate& first, const IsoDate& second) {
  if (first.day != second.day)
    return first.day > second.day ? DateOrder::later : DateOrder::not_later;
  if (first.second.has_value() != second.second.has_value()) return DateOrder::undecided;
  return first.second > second.second ? DateOrder::later : DateOrder::not_later;
}

}  // namespace tiersim
