#pragma once
// One map of a result, with all ways or without one of them, as tables and as a figure.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/papers/maps/win_map_result.hpp"

namespace tiersim {

/// "32K" for 32768 positions.
std::string positions_text(std::int64_t count);
/// A lead in a few characters, shown below a letter: "+12%", "x25".
std::string lead_text(double margin);

/// Refers to the result, which must outlive it.
class WinMapView {
 public:
  WinMapView(const WinMapResult& result, std::optional<std::size_t> without)
      : result_(result), map_(result.map), without_(without) {}

  /// Stem of its file names: the last part of the id, and the letter of the way that is left out.
  std::string stem() const;
  std::string title() const;
  std::optional<Win> win(std::size_t row, std::size_t column, std::size_t batch,
                         std::size_t context) const {
    return win_of(map_, result_.rates[row][column][batch][context], without_);
  }

  Table counts() const;   ///< a row for each panel: cells won by each way
  Table leads() const;    ///< a row for each way: cells won, and its largest lead
  Table winners() const;  ///< for people: the winners in the layout of the figure
  Table rates() const;    ///< for CSV: a row for each cell, with all rates
  std::string figure() const;

 private:
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::size_t r = 0; r < map_.rows.size(); ++r)
      for (std::size_t c = 0; c < map_.columns.size(); ++c)
        for (std::size_t b = 0; b < map_.batches.size(); ++b)
          for (std::size_t x = 0; x < map_.contexts.size(); ++x) visit(r, c, b, x);
  }
  std::vector<std::string> count_row(std::size_t row, std::size_t column) const;
  std::vector<std::string> lead_row(std::size_t way) const;
  std::string text_of(const std::optional<Win>& win) const;
  std::string subtitle() const;
  std::vector<std::string> notes() const;

  const WinMapResult& result_;
  const WinMap& map_;
  std::optional<std::size_t> without_;
};

}  // namespace tiersim
