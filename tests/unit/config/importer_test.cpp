#include "sim/config/importer.hpp"

#include <gtest/gtest.h>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::importer_test {
namespace {

using sample::Folder;

struct Shape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};
void describe(Fields& f, Shape& c) {
  f.required("rows", c.rows, "Rows.", in_range(1, 100));
  f.required("columns", c.columns, "Columns.", in_range(1, 100));
}

struct Grid {
  std::string name = {};
  Shape shape;
  bool round = false;
};
void describe(Fields& f, Grid& c) {
  f.doc("A grid.");
  f.importable("grid_file", "A file with rows, columns and a name.");
  f.required("name", c.name, "Name.");
  f.required("shape", c.shape, "Its shape.");
  f.optional("round", c.round, "Whether it is round.");
}

struct Board {
  Grid grid;
  std::int64_t players = 2;
};
void describe(Fields& f, Board& c) {
  f.document("grid", c.grid, "grid", "The grid.");
  f.optional("players", c.players, "Players.");
}

// "3 4": rows and columns; the name is that of the file.
Expected<std::string, std::vector<ImportProblem>> convert(const std::filesystem::path& path,
                                                          const std::string& text) {
  if (text == "broken") return std::string("{");
  if (text == "other") return std::string("schema: tiersim.board/v1\nplayers: 1\n");
  const std::size_t space = text.find(' ');
  if (space == std::string::npos)
    return Unexpected(std::vector<ImportProblem>{{"the file has one number", "give it two"},
                                                 {"the file is short"}});
  return "schema: tiersim.grid/v1\nname: " + path.stem().string() +
         "\nshape: {rows: " + text.substr(0, space) + ", columns: " + text.substr(space) + "}\n";
}

struct Loaded {
  Document document;
  Board board;
  std::string mistakes;
};

class Import : public ::testing::Test {
 protected:
  Loaded load(const std::string& text, const std::vector<std::string>& set = {}) const {
    const auto path = folder_.write("board.yaml", "schema: tiersim.board/v1\n" + text);
    Diagnostics diagnostics;
    Document document = load_document(path,
                                      {.overrides = set,
                                       .config_root = folder_.path() / "shipped",
                                       .importers = {{"grid_file", convert}}},
                                      diagnostics);
    auto board = read<Board>(document, "board", diagnostics);
    return {std::move(document), std::move(board), folder_.without_folder(diagnostics.text())};
  }

  const Folder folder_{"import"};
};

TEST_F(Import, LiesUnderTheMappingThatNamesIt) {
  folder_.write("small.txt", "3 4");
  const Loaded got = load("grid:\n  shape: {columns: 5}\n  grid_file: small.txt\n");
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.board.grid.name, "small");
  EXPECT_EQ(got.board.grid.shape.rows, 3);
  EXPECT_EQ(got.board.grid.shape.columns, 5);
  EXPECT_EQ(
      canonical_json(got.board),
      R"({"grid":{"name":"small","shape":{"rows":3,"columns":5},"round":false},"players":2})");
}

TEST_F(Import, LiesOverTheBasesOfItsMapping) {
  folder_.write("small.txt", "3 4");
  folder_.write("base.yaml", "schema: tiersim.grid/v1\nname: base\nround: true\n");
  const Loaded got = load("grid: {grid_file: small.txt, base: base.yaml}\n");
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.board.grid.name, "small");
  EXPECT_TRUE(got.board.grid.round);
}

TEST_F(Import, ByAnOptionReplacesTheMappingOfTheFile) {
  folder_.write("small.txt", "3 4");
  folder_.write("shipped/large.txt", "30 40");
  const Loaded got = load("grid: {grid_file: small.txt, round: true}\n",
                          {"grid.grid_file=large.txt", "grid.shape.rows=6"});
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.board.grid.name, "large");
  EXPECT_EQ(got.board.grid.shape.rows, 6);
  EXPECT_EQ(got.board.grid.shape.columns, 40);
  EXPECT_FALSE(got.board.grid.round);
}

TEST_F(Import, InABaseIsRelativeToTheBase) {
  folder_.write("shipped/grids/small.txt", "3 4");
  folder_.write("shipped/grids/small.yaml", "schema: tiersim.grid/v1\ngrid_file: small.txt\n");
  const Loaded got = load("grid: {base: grids/small.yaml}\n");
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.board.grid.shape.rows, 3);
}

TEST_F(Import, GivesItsValuesTheFileAsOrigin) {
  folder_.write("large.txt", "3 400");
  const Loaded got = load("grid: {grid_file: large.txt}\n");
  EXPECT_EQ(
      got.mistakes,
      "large.txt:1:1: error: grid.shape.columns: '400' is out of range (allowed: 1 to 100)\n");
  EXPECT_EQ(folder_.without_folder(got.document.locate("grid.shape.rows").file), "large.txt");
}

TEST_F(Import, ThatFailsIsToldWhereItStandsAndGivesNoFollowOnErrors) {
  folder_.write("short.txt", "3");
  EXPECT_EQ(load("grid: {grid_file: short.txt}\n").mistakes,
            "board.yaml:2:19: error: the file has one number (give it two)\n"
            "board.yaml:2:19: error: the file is short\n");
  EXPECT_EQ(load("grid: {grid_file: none.txt}\n").mistakes,
            "board.yaml:2:19: error: there is no file 'none.txt' (looked for none.txt and "
            "shipped/none.txt)\n");
  EXPECT_EQ(load("grid: {grid_file: [a, b]}\n").mistakes,
            "board.yaml:2:19: error: expected a file name as grid_file, found a list\n");
  folder_.write("grids/none", "");
  EXPECT_EQ(load("grid: {grid_file: grids}\n").mistakes,
            "board.yaml:2:19: error: cannot read 'grids': is a folder\n");
}

TEST_F(Import, OfAnotherKindOrOfNoMappingIsRefused) {
  folder_.write("other.txt", "other");
  EXPECT_EQ(load("grid: {grid_file: other.txt}\n").mistakes,
            "other.txt:1:1: error: grid: expected schema tiersim.grid/v1, found "
            "'tiersim.board/v1'\n");
  folder_.write("broken.txt", "broken");
  EXPECT_TRUE(load("grid: {grid_file: broken.txt}\n")
                  .mistakes.starts_with("board.yaml:2:19: error: cannot import 'broken.txt' ("));
}

TEST_F(Import, KeyIsKnownToTheReaderAndTheSchema) {
  EXPECT_EQ(load("grid: {grid_fiel: a, round: true}\n").mistakes,
            "board.yaml:2:8: error: grid: unknown key 'grid_fiel' (did you mean 'grid_file'?)\n");
  const std::string schema = json_schema<Grid>("grid", "A grid");
  EXPECT_NE(
      schema.find("\"grid_file\": {\"description\": \"A file with rows, columns and a name.\", "
                  "\"type\": \"string\"}"),
      std::string::npos);
}

TEST_F(Import, WithoutAnImporterIsNotIgnored) {
  Diagnostics diagnostics;
  const Document document = load_text("name: a\n\ngrid_file: a.txt\n", "a.yaml", {}, diagnostics);
  static_cast<void>(read<Grid>(document, "grid", diagnostics));
  EXPECT_EQ(diagnostics.text(), "a.yaml:3:1: error: grid_file: cannot be imported here\n");
}

}  // namespace
}  // namespace tiersim::importer_test
