#include <fmt/format.h>

#include "reports/papers/maps/win_map_view.hpp"

namespace tiersim {

std::string positions_text(std::int64_t count) {
  if (count % 1024 != 0) return fmt::format("{}", count);
  return count % 1048576 == 0 ? fmt::format("{}M", count / 1048576)
                              : fmt::format("{}K", count / 1024);
}

std::string lead_text(double margin) {
  return margin >= 10 ? fmt::format("x{:.0f}", 1 + margin) : fmt::format("+{:.0f}%", 100 * margin);
}

std::string WinMapView::stem() const {
  std::string out = map_.id.substr(map_.id.rfind('.') + 1);
  if (without_) out += "_without_" + map_.ways[*without_].letter;
  return out;
}

std::string WinMapView::title() const {
  return map_.title + (without_ ? ", without " + map_.ways[*without_].label : "");
}

std::vector<std::string> WinMapView::count_row(std::size_t r, std::size_t c) const {
  std::vector<std::size_t> won(map_.ways.size());
  std::size_t tied = 0;
  std::size_t none = 0;
  for (std::size_t b = 0; b < map_.batches.size(); ++b)
    for (std::size_t x = 0; x < map_.contexts.size(); ++x) {
      const auto cell = win(r, c, b, x);
      ++(!cell ? none : cell->tie ? tied : won[cell->way]);
    }
  std::vector<std::string> row{map_.rows[r].label, map_.columns[c].label};
  for (std::size_t w = 0; w < won.size(); ++w)
    if (w != without_) row.push_back(fmt::format("{}", won[w]));
  row.insert(row.end(), {fmt::format("{}", tied), fmt::format("{}", none)});
  return row;
}

std::vector<std::string> WinMapView::lead_row(std::size_t way) const {
  std::size_t count = 0;
  double most = 0;
  std::vector<std::string> out{map_.ways[way].label, "0", "-", "-", "-", "-", "-", "-"};
  each([&](std::size_t r, std::size_t c, std::size_t b, std::size_t x) {
    const auto won = win(r, c, b, x);
    if (!won || won->tie || won->way != way) return;
    out[1] = fmt::format("{}", ++count);
    if (!won->next || won->margin <= most) return;
    most = won->margin;
    out = {out[0],
           out[1],
           lead_text(most),
           map_.ways[*won->next].label,
           positions_text(map_.contexts[x]),
           fmt::format("{}", map_.batches[b]),
           map_.rows[r].label,
           map_.columns[c].label};
  });
  return out;
}

std::string WinMapView::text_of(const std::optional<Win>& won) const {
  if (!won) return "-";
  const std::string& letter = map_.ways[won->way].letter;
  if (won->tie) return letter + "=" + map_.ways[*won->next].letter;
  return won->next ? letter + " " + lead_text(won->margin) : letter + " alone";
}

std::vector<std::string> WinMapView::notes() const {
  std::string letters;
  for (std::size_t w = 0; w < map_.ways.size(); ++w)
    if (w != without_)
      letters += fmt::format("{}{} {}", letters.empty() ? "" : ", ", map_.ways[w].letter,
                             map_.ways[w].label);
  std::vector<std::string> out{fmt::format("{}; a tie (=) is less than {:.0f} % of tokens a second",
                                           letters, 100 * map_.tie)};
  if (without_) return out;  // other notes are below the first map
  for (std::size_t w = 0; w < map_.ways.size(); ++w)
    if (!map_.ways[w].remark.empty())
      out.push_back(map_.ways[w].label + ": " + map_.ways[w].remark);
  out.insert(out.end(), map_.notes.begin(), map_.notes.end());
  return out;
}

Table WinMapView::counts() const {
  Table table{.title = title() + ": cells won in each panel",
              .columns = {{map_.row_title, Align::left}, {map_.column_title, Align::left}}};
  for (std::size_t w = 0; w < map_.ways.size(); ++w)
    if (w != without_) table.columns.push_back({map_.ways[w].label});
  table.columns.insert(table.columns.end(), {{"tied"}, {"none fits"}});
  for (std::size_t r = 0; r < map_.rows.size(); ++r)
    for (std::size_t c = 0; c < map_.columns.size(); ++c) table.add(count_row(r, c));
  table.notes = notes();
  return table;
}

// A way that never leads has dashes.
Table WinMapView::leads() const {
  Table table{.title = title() + ": where each way leads by most",
              .columns = {{"way", Align::left},
                          {"cells won"},
                          {"largest lead"},
                          {"before", Align::left},
                          {"context"},
                          {"batch"},
                          {map_.row_title, Align::left},
                          {map_.column_title, Align::left}}};
  for (std::size_t w = 0; w < map_.ways.size(); ++w)
    if (w != without_) table.add(lead_row(w));
  return table;
}

// "T +12%", "T=G" or "-" in each cell, with the largest batch at the top.
Table WinMapView::winners() const {
  Table table{
      .title = title(),
      .columns = {{map_.row_title, Align::left}, {map_.column_title, Align::left}, {"batch"}},
      .readers = Readers::people};
  for (const std::int64_t context : map_.contexts)
    table.columns.push_back({positions_text(context)});
  for (std::size_t r = 0; r < map_.rows.size(); ++r)
    for (std::size_t c = 0; c < map_.columns.size(); ++c)
      for (std::size_t b = map_.batches.size(); b-- > 0;) {
        std::vector<std::string> row{map_.rows[r].label, map_.columns[c].label,
                                     fmt::format("{}", map_.batches[b])};
        for (std::size_t x = 0; x < map_.contexts.size(); ++x)
          row.push_back(text_of(win(r, c, b, x)));
        table.add(std::move(row));
      }
  table.notes = notes();
  return table;
}

Table WinMapView::rates() const {
  Table table{.title = title(), .readers = Readers::csv};
  for (const char* title : {"row", "column", "context", "batch", "winner", "runner_up", "margin"})
    table.columns.push_back({title});
  for (const MapWay& way : map_.ways) table.columns.push_back({way.label + " tokens_per_s"});
  each([&](std::size_t r, std::size_t c, std::size_t b, std::size_t x) {
    const auto won = win(r, c, b, x);
    const bool led = won && won->next;
    Row row{map_.rows[r].label,
            map_.columns[c].label,
            map_.contexts[x],
            map_.batches[b],
            won ? map_.ways[won->way].label : "none",
            led ? Cell(map_.ways[*won->next].label) : Cell(),
            led ? Cell(won->margin) : Cell()};
    for (const auto& rate : result_.rates[r][c][b][x]) row.push_back(rate ? Cell(*rate) : Cell());
    table.add(std::move(row));
  });
  return table;
}

}  // namespace tiersim
