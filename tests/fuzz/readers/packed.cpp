#include <algorithm>

#include "sim/base/gunzip.hpp"
#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::fuzz {

// A file is the same whether it comes whole or in pieces.
void read_packed(std::string_view text) {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  constexpr std::size_t kPiece = 7;
  const auto whole = gunzipped(std::string(text), kMost);
  if (!whole) promise(!whole.error().empty(), "no words");
  if (!Gunzip::is_packed(text))
    return promise(whole.has_value() && *whole == text, "a text that is not packed changes");
  Gunzip gunzip;
  std::string out;
  bool sound = true;
  for (; sound && !text.empty() && out.size() <= kMost;
       text.remove_prefix(std::min(text.size(), kPiece)))
    sound = gunzip.add(text.substr(0, kPiece), out);
  if (whole)
    return promise(sound && gunzip.ended() && out == *whole, "the pieces give another text");
  promise(!sound || !gunzip.ended() || out.size() > kMost, "the pieces give a text");
}

}  // namespace tiersim::fuzz
