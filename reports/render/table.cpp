#include "reports/render/table.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

// A table as people read it: texts alone. Names from files may contain any character, and a
// terminal would obey some of them, so these are escaped.
struct ShownTable {
  explicit ShownTable(const Table& table) : title(printable(table.title)) {
    const std::vector<std::size_t> columns = columns_for(table, TableForm::people);
    for (const std::size_t c : columns) {
      heads.push_back(printable(table.columns[c].title));
      align.push_back(alignment(table, c));
    }
    for (const Row& row : std::span(table.rows).first(people_rows(table))) {
      std::vector<std::string>& texts = rows.emplace_back();
      for (const std::size_t c : columns) texts.push_back(printable(row[c].shown()));
    }
    for (const std::string& note : table.notes) notes.push_back(printable(note));
  }
  std::string title;
  std::vector<std::string> notes;
  std::vector<std::string> heads;
  std::vector<Align> align;
  std::vector<std::vector<std::string>> rows;
};

std::vector<std::size_t> widths(const ShownTable& table) {
  std::vector<std::size_t> out;
  for (const std::string& head : table.heads) out.push_back(display_width(head));
  for (const auto& row : table.rows)
    for (std::size_t c = 0; c < row.size(); ++c) out[c] = std::max(out[c], display_width(row[c]));
  return out;
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string blanks(width - display_width(cell), ' ');
  return align == Align::left ? cell + blanks : blanks + cell;
}

std::string without_trailing_blanks(std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string replaced(std::string_view text, char from, std::string_view to) {
  std::string out;
  for (const char c : text) {
    if (c == from) {
      out += to;
    } else {
      out += c;
    }
  }
  return out;
}

std::string latex_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else if (c == '\\') {
      out += "\\textbackslash{}";
    } else if (c == '<') {
      out += "\\textless{}";
    } else if (c == '>') {
      out += "\\textgreater{}";
    } else if (c == '|') {
      out += "\\textbar{}";
    } else if (c == '~' || c == '^') {
      (out += '\\') += c;
      out += "{}";
    } else if (c == '-' && out.ends_with('-')) {
      out += "{}-";  // two hyphens would become a dash
    } else {
      out += c;
    }
  }
  return out;
}

// A cell that begins with a bracket or an asterisk would be an argument of the rule or of the end
// of the row before it.
std::string latex_cell(std::string_view cell) {
  if (!cell.starts_with('[') && !cell.starts_with('*')) return latex_escaped(cell);
  return fmt::format("{{{}}}{}", cell.front(), latex_escaped(cell.substr(1)));
}

// Text between backquotes is a command line, and LaTeX sets it in a typewriter face.
std::string latex_note(std::string_view note) {
  std::string out;
  while (!note.empty()) {
    const std::size_t open = note.find('`');
    const std::size_t close = open == std::string_view::npos ? open : note.find('`', open + 1);
    if (close == std::string_view::npos) break;
    out += latex_escaped(note.substr(0, open)) + "\\texttt{" +
           latex_escaped(note.substr(open + 1, close - open - 1)) + '}';
    note.remove_prefix(close + 1);
  }
  return out + latex_escaped(note);
}

// The words of the title, joined by hyphens: "tab:ttft-by-rate".
std::string latex_label(const Table& table) {
  std::string out;
  bool gap = false;
  for (const char c : table.id.empty() ? table.title : table.id) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool plain = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9');
    if (plain) {
      if (gap && !out.empty()) out += '-';
      out += small;
    }
    gap = !plain;
  }
  return "tab:" + (out.empty() ? "table" : out);
}

// True for a text that a spreadsheet would run as a formula. A signed number, with a unit or
// without, is none.
bool is_formula(std::string_view text) {
  if (text.size() < 2) return false;
  const char first = text.front();
  if (first == '=' || first == '@' || first == '\t' || first == '\r') return true;
  if (first != '+' && first != '-') return false;
  const std::string_view number = text.substr(1, text.find(' ') - 1);
  const std::string_view unit = text.substr(1 + number.size());
  return !plain_number(std::string(number)) ||
         unit.find_first_of("=+-@()|'\"") != std::string_view::npos;
}

std::string csv_cell(std::string_view cell) {
  if (cell.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(cell);
  return '"' + replaced(cell, '"', "\"\"") + '"';
}

// End of the word; a command in backquotes is one word, so that it can be copied.
std::size_t word_end(std::string_view note, std::size_t start) {
  std::size_t end = std::min(note.find(' ', start), note.size());
  if (note.substr(start, end - start).find('`') == std::string_view::npos) return end;
  const std::size_t close = note.find('`', note.find('`', start) + 1);
  return close == std::string_view::npos ? end : std::min(note.find(' ', close), note.size());
}

// A note in indented lines for a wide terminal, broken at blanks.
std::string wrapped(std::string_view note) {
  constexpr std::size_t kMost = 150;
  std::string out;
  std::string line = " ";
  for (std::size_t start = 0; start < note.size();) {
    const std::size_t end = word_end(note, start);
    const std::string word(note.substr(start, end - start));
    if (display_width(line) + 1 + display_width(word) > kMost) {
      out += line + '\n';
      line = "     ";
    }
    line += ' ' + word;
    start = end + 1;
  }
  return out + line + '\n';
}

}  // namespace

std::size_t display_width(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string to_text(const Table& table) {
  const ShownTable shown(table);
  const auto width = widths(shown);
  const auto line = [&](auto cell_of) {
    std::string out;
    for (std::size_t c = 0; c < width.size(); ++c) {
      if (c != 0) out += "  ";
      out += padded(cell_of(c), width[c], shown.align[c]);
    }
    return without_trailing_blanks(std::move(out)) + '\n';
  };
  std::string out = shown.title.empty() ? "" : shown.title + '\n';
  out += line([&](std::size_t c) { return shown.heads[c]; });
  out += line([&](std::size_t c) { return std::string(width[c], '-'); });
  for (const auto& row : shown.rows) out += line([&](std::size_t c) { return row[c]; });
  for (const std::string& note : shown.notes) out += wrapped(note);
  return out;
}

// Text escaped for a cell in Markdown: neither a column separator nor HTML.
std::string markdown_escaped(std::string_view text) {
  return replaced(replaced(text, '|', "\\|"), '<', "&lt;");
}

std::string to_markdown(const Table& table) {
  const ShownTable shown(table);
  std::string out = shown.title.empty() ? "" : "### " + shown.title + "\n\n";
  out += '|';
  for (const std::string& head : shown.heads) out += ' ' + markdown_escaped(head) + " |";
  out += "\n|";
  for (const Align align : shown.align) out += align == Align::left ? "---|" : "---:|";
  out += '\n';
  for (const auto& row : shown.rows) {
    out += '|';
    for (const std::string& cell : row) out += ' ' + markdown_escaped(cell) + " |";
    out += '\n';
  }
  for (const std::string& note : shown.notes) out += "\n- " + note;
  if (!shown.notes.empty()) out += '\n';
  return out;
}

std::string to_csv(const Table& table) {
  const std::vector<std::size_t> columns = columns_for(table, TableForm::csv);
  const auto line = [&](auto cell_of) {
    std::string out;
    for (std::size_t i = 0; i < columns.size(); ++i)
      out += (i == 0 ? "" : ",") + csv_cell(cell_of(columns[i]));
    return out + "\r\n";
  };
  std::string out = line([&](std::size_t c) { return csv_head(table.columns[c]); });
  const auto harmless = [](const Cell& cell) {
    std::string text = cell.exact();
    return !cell.number() && is_formula(text) ? '\'' + text : text;
  };
  for (const Row& row : table.rows) out += line([&](std::size_t c) { return harmless(row[c]); });
  return out;
}

std::string to_latex(const Table& table) {
  const ShownTable shown(table);
  std::string out = "\\begin{table}\n\\centering\n\\begin{tabular}{";
  for (const Align align : shown.align) out += align == Align::left ? 'l' : 'r';
  out += "}\n\\toprule\n";
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c)
      out += (c == 0 ? "" : " & ") + latex_cell(cells[c]);
    out += " \\\\\n";
  };
  line(shown.heads);
  out += "\\midrule\n";
  for (const auto& row : shown.rows) line(row);
  out += "\\bottomrule\n\\end{tabular}\n";
  if (!shown.notes.empty()) {
    out += "\n\\smallskip\n\\begin{minipage}{\\linewidth}\n\\footnotesize\n";
    for (const std::string& note : shown.notes) out += "\\noindent " + latex_note(note) + "\\par\n";
    out += "\\end{minipage}\n";
  }
  out += "\\caption{" + latex_escaped(shown.title) + "}\n\\label{" + latex_label(table) + "}\n";
  return out + "\\end{table}\n";
}

}  // namespace tiersim
