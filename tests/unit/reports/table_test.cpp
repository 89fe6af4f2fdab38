#include "reports/render/table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "sim/record/table_json.hpp"

namespace tiersim::table_test {
namespace {

Table sample() {
  Table table{.title = "Loads", .columns = {{"model", Align::left}, {"GiB"}}};
  table.add({"7B, \"dense\"", "512"});
  table.add({"50 % | µ_x", "6.25"});
  table.notes = {"[1] a note"};
  return table;
}

TEST(Table, TextIsAlignedByCharactersNotBytes) {
  EXPECT_EQ(to_text(sample()),
            "Loads\n"
            "model         GiB\n"
            "-----------  ----\n"
            "7B, \"dense\"   512\n"
            "50 % | µ_x   6.25\n"
            "  [1] a note\n");
}

// 30 words of 5 characters and their blanks are 179 wide: the first line holds 150 at most.
TEST(Table, ALongNoteIsBrokenAtBlanks) {
  Table table{.title = "", .columns = {{"a"}}};
  std::string note;
  for (int i = 0; i < 30; ++i) note += i == 0 ? "words" : " words";
  table.notes = {note};
  const std::string text = to_text(table);
  std::size_t words = 0;
  for (std::size_t at = text.find("words"); at != std::string::npos;
       at = text.find("words", at + 1))
    ++words;
  EXPECT_EQ(words, 30);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = text.find('\n', from);
    EXPECT_LE(to - from, 150);
    from = to + 1;
  }
}

// The command begins at column 140 of a line of 150: it goes to the next one as a whole.
TEST(Table, ACommandInBackquotesIsNotBroken) {
  Table table{.title = "", .columns = {{"a"}}};
  table.notes = {std::string(139, 'x') + " `tiersim rerun store.db:7` again"};
  EXPECT_NE(to_text(table).find("\n      `tiersim rerun store.db:7` again\n"), std::string::npos);
}

TEST(Table, MarkdownEscapesThePipe) {
  EXPECT_EQ(to_markdown(sample()),
            "### Loads\n\n"
            "| model | GiB |\n"
            "|---|---:|\n"
            "| 7B, \"dense\" | 512 |\n"
            "| 50 % \\| µ_x | 6.25 |\n"
            "\n- [1] a note\n");
}

// An escape sequence, a new line and a mark that turns the direction of text around.
TEST(Table, WhatATerminalWouldObeyIsEscaped) {
  Table table{.title = "a\x1b[31m", .columns = {{"b\n"}}};
  table.add({"c\xe2\x80\xae"});
  table.notes = {"d\r"};
  for (const std::string& text : {to_text(table), to_markdown(table), to_latex(table)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\r'), std::string::npos) << text;
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << text;
    EXPECT_EQ(text.find("b\n\n"), std::string::npos) << text;
  }
  EXPECT_NE(to_text(table).find("a\\x1b[31m"), std::string::npos) << to_text(table);
}

TEST(Table, CsvHasNoFormulas) {
  Table table{.title = "", .columns = {{"name"}}};
  for (const char* cell : {"=1+1", "@SUM(A1)", "+cmd", "-cmd", "-1+1", "-2 +SUM(A1)", "-", "-5 %",
                           "+20.0 % !", "-5e-3", "-.5 GB/s", "a=b"})
    table.add({cell});
  table.add({-std::numeric_limits<double>::infinity()});
  EXPECT_EQ(to_csv(table),
            "name\r\n'=1+1\r\n'@SUM(A1)\r\n'+cmd\r\n'-cmd\r\n'-1+1\r\n'-2 +SUM(A1)\r\n-\r\n-5 "
            "%\r\n+20.0 % !\r\n"
            "-5e-3\r\n-.5 GB/s\r\na=b\r\n-inf\r\n");
}

TEST(Table, CsvQuotesCommasAndQuotes) {
  EXPECT_EQ(to_csv(sample()), "model,GiB\r\n\"7B, \"\"dense\"\"\",512\r\n50 % | µ_x,6.25\r\n");
}

TEST(Table, LatexEscapesItsSpecialCharacters) {
  const std::string latex = to_latex(sample());
  EXPECT_NE(latex.find("50 \\% \\textbar{} µ\\_x & 6.25 \\\\"), std::string::npos) << latex;
  EXPECT_NE(latex.find("\\begin{tabular}{lr}\n\\toprule"), std::string::npos) << latex;
  EXPECT_NE(latex.find("\\caption{Loads}"), std::string::npos) << latex;
}

TEST(Table, LatexHasALabelAndPrintsItsNotes) {
  Table table = sample();
  table.title = "Loads, 50 % by --x";
  table.notes = {"run `tiersim run --set a_b=1` again", "50 % have no value"};
  const std::string latex = to_latex(table);
  EXPECT_NE(latex.find("\\end{tabular}\n\n\\smallskip\n\\begin{minipage}{\\linewidth}\n"
                       "\\footnotesize\n"
                       "\\noindent run \\texttt{tiersim run -{}-set a\\_b=1} again\\par\n"
                       "\\noindent 50 \\% have no value\\par\n\\end{minipage}\n"
                       "\\caption{Loads, 50 \\% by -{}-x}\n\\label{tab:loads-50-by-x}\n"
                       "\\end{table}\n"),
            std::string::npos)
      << latex;
  table.id = "fig_3";
  table.notes.clear();
  EXPECT_NE(to_latex(table).find("\\end{tabular}\n\\caption{Loads, 50 \\% by -{}-x}\n"
                                 "\\label{tab:fig-3}\n"),
            std::string::npos)
      << to_latex(table);
}

// After the end of a row, LaTeX takes [1] for a distance and * for a forbidden page break.
TEST(Table, ACellOfLatexIsNoArgumentOfTheRowBeforeIt) {
  Table table{.title = "", .columns = {{"a", Align::left}}};
  table.add({"[1]"});
  table.add({"*2"});
  const std::string latex = to_latex(table);
  EXPECT_NE(latex.find("\\midrule\n{[}1] \\\\\n{*}2 \\\\\n"), std::string::npos) << latex;
  EXPECT_NE(latex.find("\\label{tab:table}"), std::string::npos) << latex;
}

// A time of a row, the whole id of its run, and why another has none.
Table typed() {
  Table table{.title = "Runs",
              .columns = {{"run", Align::left},
                          {.title = "time", .key = "time_s", .csv = "time [s]", .unit = "s"},
                          {.title = "id", .readers = Readers::programs},
                          {.title = "fits", .readers = Readers::people},
                          {.title = "read", .within = "bytes", .readers = Readers::json}}};
  table.add({"first", Cell::quantity(0.0123456, "s"), "0123", true, 7});
  table.add({"second", Cell({}, "-"), "4567", false, Cell(Cell::Absent{}, "")});
  return table;
}

TEST(Table, PeopleReadWhatIsShownAndProgramsTheValues) {
  EXPECT_EQ(to_text(typed()),
            "Runs\n"
            "run         time  fits\n"
            "------  --------  ----\n"
            "first   12.35 ms   yes\n"
            "second         -    no\n");
  EXPECT_EQ(to_csv(typed()), "run,time [s],id\r\nfirst,0.0123456,0123\r\nsecond,,4567\r\n");
  EXPECT_EQ(to_json(typed()),
            R"([{"run":"first","time_s":0.0123456,"id":"0123","bytes":{"read":7}},)"
            R"({"run":"second","time_s":null,"id":"4567"}])");
}

TEST(Table, JsonHasTheAskedColumnsInTheAskedOrder) {
  constexpr std::array<std::string_view, 2> kKeys{"id", "run"};
  EXPECT_EQ(to_json(typed(), kKeys),
            R"([{"id":"0123","run":"first"},{"id":"4567","run":"second"}])");
}

TEST(Table, PeopleReadTheFirstRowsOfALongTable) {
  Table table = sample();
  table.people_rows = 1;
  EXPECT_EQ(to_text(table).find("6.25"), std::string::npos);
  EXPECT_NE(to_csv(table).find("6.25"), std::string::npos);
}

TEST(Table, AColumnIsAlignedByItsCells) {
  Table table{.title = "", .columns = columns_by_cells({"name", "rate"})};
  table.add({"a", 1.5});
  table.add({"longer", 22});
  EXPECT_EQ(to_text(table), "name    rate\n------  ----\na        1.5\nlonger    22\n");
}

TEST(Table, OneTableIsTheCellOfAnother) {
  Table inside{.title = "", .columns = {{"tier"}, {"capacity"}}};
  inside.add({"hbm", 80});
  Table table{.title = "", .columns = {{"system"}, {"tiers"}, {"shared"}}};
  table.add({"node", nested(inside, "hbm 80"), Cell(std::vector<std::string>{"a", "b"}, "a, b")});
  EXPECT_EQ(to_json(table),
            R"([{"system":"node","tiers":[{"tier":"hbm","capacity":80}],"shared":["a","b"]}])");
  EXPECT_EQ(to_csv(table), "system,tiers,shared\r\nnode,,\"a, b\"\r\n");
}

TEST(TableDeathTest, ARowOfTheWrongLengthIsRefused) {
  Table table = sample();
  EXPECT_DEATH(table.add({"one cell"}), "row.size\\(\\) == columns.size\\(\\)");
}

}  // namespace
}  // namespace tiersim::table_test
