#include "reports/render/table.hpp"

#include <gtest/gtest.h>

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

TEST(Table, CsvQuotesCommasAndQuotes) {
  EXPECT_EQ(to_csv(sample()), "model,GiB\r\n\"7B, \"\"dense\"\"\",512\r\n50 % | µ_x,6.25\r\n");
}

TEST(Table, LatexEscapesItsSpecialCharacters) {
  const std::string latex = to_latex(sample());
  EXPECT_NE(latex.find("50 \\% \\textbar{} µ\\_x & 6.25 \\\\"), std::string::npos) << latex;
  EXPECT_NE(latex.find("\\begin{tabular}{lr}\n\\toprule"), std::string::npos) << latex;
  EXPECT_NE(latex.find("\\caption{Loads}"), std::string::npos) << latex;
}

TEST(TableDeathTest, ARowOfTheWrongLengthIsRefused) {
  Table table = sample();
  EXPECT_DEATH(table.add({"one cell"}), "row.size\\(\\) == columns.size\\(\\)");
}

}  // namespace
}  // namespace tiersim::table_test
