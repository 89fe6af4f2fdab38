// Files of the project that are referred to by a short name: `grids: [small, large]`.
#include <gtest/gtest.h>

#include "sim/config/importer.hpp"
#include "tests/unit/config/sample_text.hpp"

namespace tiersim::named_base_test {
namespace {

using sample::Folder;

struct Cell {
  std::int64_t width = 0;
  std::int64_t height = 7;
};
void describe(Fields& f, Cell& c) {
  f.required("width", c.width, "Width.", in_range(1, 100));
  f.optional("height", c.height, "Height.", in_range(1, 100));
}

struct Grid {
  std::string name = "none";
  std::optional<std::int64_t> rows;
  std::optional<std::map<std::string, Cell>> cells;
};
void describe(Fields& f, Grid& c) {
  f.doc("A grid.");
  f.optional("name", c.name, "Name.");
  f.optional("rows", c.rows, "Rows.", in_range(0, 100));
  f.optional("cells", c.cells, "Cells by name.");
  f.importable("shape", "Shapes by name.", ImportCount::several);
}

struct Board {
  Grid grid;
};
void describe(Fields& f, Board& c) {
  f.document("grid", c.grid, "grid", "The grid.");
}

struct Loaded {
  Document document;
  Grid grid;
  std::string mistakes;
};

class NamedBaseTest : public ::testing::Test {
 protected:
  NamedBaseTest() {
    shelve("round", "cells: {inner: {width: 1}, outer: {width: 2, height: 3}}\n");
    shelve("flat", "rows: 4\ncells: {outer: {width: 5}, rim: {width: 6}}\n");
  }

  void shelve(const std::string& name, const std::string& text) const {
    folder_.write("shipped/shapes/" + name + "/grid.yaml", "schema: tiersim.grid/v1\n" + text);
  }

  Loaded load(const std::string& text, const std::vector<std::string>& set = {},
              const std::vector<std::string>& keys = {}) const {
    const auto path = folder_.write("board.yaml", "schema: tiersim.board/v1\n" + text);
    Diagnostics diagnostics;
    Document document = load_document(
        path,
        {.overrides = set,
         .config_root = folder_.path() / "shipped",
         .importers = {{.key = "shape", .named_base = NamedBase{"shapes", "grid.yaml", keys}}}},
        diagnostics);
    auto board = read<Board>(document, "board", diagnostics);
    return {std::move(document), std::move(board.grid), folder_.without_folder(diagnostics.text())};
  }

  const Folder folder_{"named_base"};
};

std::string widths(const Grid& grid) {
  std::string out;
  if (!grid.cells) return out;
  for (const auto& [name, cell] : *grid.cells)
    out += (out.empty() ? "" : " ") + name + '=' + std::to_string(cell.width) + 'x' +
           std::to_string(cell.height);
  return out;
}

TEST_F(NamedBaseTest, GivesAFileByItsName) {
  const Loaded got = load("grid: {shape: flat, name: mine}\n");
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.grid.name, "mine");
  EXPECT_EQ(got.grid.rows, 4);
  EXPECT_EQ(widths(got.grid), "outer=5x7 rim=6x7");
}

// The outer cell of `flat` has the height of its kind, not that of `round`.
TEST_F(NamedBaseTest, OfSeveralTheFirstGivesEachEntryWhole) {
  const Loaded first = load("grid: {shape: [flat, round]}\n");
  EXPECT_EQ(first.mistakes, "");
  EXPECT_EQ(widths(first.grid), "inner=1x7 outer=5x7 rim=6x7");
  const Loaded second = load("grid: {shape: [round, flat]}\n");
  EXPECT_EQ(widths(second.grid), "inner=1x7 outer=2x3 rim=6x7");
  EXPECT_EQ(second.grid.rows, 4);
}

TEST_F(NamedBaseTest, LiesUnderTheKeysOfItsMapping) {
  const Loaded got = load("grid: {shape: round, cells: {outer: {height: 9}}}\n");
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(widths(got.grid), "inner=1x7 outer=2x9");
  EXPECT_EQ(widths(load("grid: {shape: round}\n", {"grid.cells.outer.height=9"}).grid),
            "inner=1x7 outer=2x9");
}

TEST_F(NamedBaseTest, LiesOverTheBasesOfItsMappingAndKeepsTheirOtherKeys) {
  folder_.write("base.yaml",
                "schema: tiersim.grid/v1\nname: base\nrows: 8\ncells: {rim: {width: 9}}\n");
  const Loaded got = load("grid: {base: base.yaml, shape: round}\n");
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.grid.name, "base");
  EXPECT_EQ(got.grid.rows, 8);
  EXPECT_EQ(widths(got.grid), "inner=1x7 outer=2x3");  // names are all that counts
}

// Its bases are part of it, and it still lies over those of the mapping.
TEST_F(NamedBaseTest, OfAFileWithBasesLiesOverTheBasesOfItsMapping) {
  folder_.write("shapes/two/part.yaml", "schema: tiersim.grid/v1\ncells: {inner: {width: 3}}\n");
  folder_.write("shapes/two/grid.yaml", "schema: tiersim.grid/v1\nbase: [part.yaml]\n");
  folder_.write("base.yaml", "schema: tiersim.grid/v1\nname: base\nrows: 8\n");
  const Loaded got = load("grid: {base: base.yaml, shape: two}\n");
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.grid.name, "base");
  EXPECT_EQ(got.grid.rows, 8);
  EXPECT_EQ(widths(got.grid), "inner=3x7");
}

TEST_F(NamedBaseTest, NamedAnewReplacesWhatOtherNamesGave) {
  folder_.write("below.yaml", "schema: tiersim.board/v1\ngrid: {shape: flat, name: kept}\n");
  const Loaded over = load("base: below.yaml\ngrid: {shape: round}\n");
  EXPECT_EQ(over.mistakes, "");
  EXPECT_EQ(over.grid.name, "kept");
  EXPECT_EQ(widths(over.grid), "inner=1x7 outer=2x3");
  for (const char* text : {"base: below.yaml\n", "grid: {shape: flat, name: kept}\n"}) {
    const Loaded set = load(text, {"grid.shape=round"});
    EXPECT_EQ(set.mistakes, "");
    EXPECT_EQ(set.grid.name, "kept") << "an option with a name keeps the mapping";
    EXPECT_EQ(widths(set.grid), "inner=1x7 outer=2x3");
  }
  EXPECT_EQ(widths(load("grid: {shape: [flat, round]}\n", {"grid.shape.0=round"}).grid),
            "inner=1x7 outer=2x3");
}

TEST_F(NamedBaseTest, NoneLeavesNothingOfOtherNames) {
  folder_.write("below.yaml", "schema: tiersim.board/v1\ngrid: {shape: flat, name: kept}\n");
  const std::vector<std::string> keys{"cells", "rows"};
  for (const std::string text : {"base: below.yaml\ngrid: {shape: none}\n", "base: below.yaml\n"}) {
    const bool by_option = text.find("none") == std::string::npos;
    const Loaded out = load(
        text, by_option ? std::vector<std::string>{"grid.shape=none"} : std::vector<std::string>{},
        keys);
    EXPECT_EQ(out.mistakes, "");
    EXPECT_EQ(out.grid.name, "kept");
    EXPECT_FALSE(out.grid.rows) << "the key is of the shapes alone";
    EXPECT_EQ(widths(out.grid), "");
  }
  EXPECT_EQ(widths(load("grid: {shape: none}\n", {"grid.shape=round"}, keys).grid),
            "inner=1x7 outer=2x3");
}

TEST_F(NamedBaseTest, IsBesideTheFileBeforeTheConfigRoot) {
  folder_.write("shapes/flat/grid.yaml", "schema: tiersim.grid/v1\nrows: 1\n");
  EXPECT_EQ(load("grid: {shape: flat}\n").grid.rows, 1);
  EXPECT_EQ(load("grid: {shape: [flat, round]}\n").grid.rows, 1);
}

TEST_F(NamedBaseTest, HoldsNamesWithFolders) {
  shelve("h200/2026-11-21-ab", "rows: 3\n");
  EXPECT_EQ(load("grid: {shape: h200/2026-11-21-ab}\n").grid.rows, 3);
}

TEST_F(NamedBaseTest, TakesThePathOfAFolderOrFile) {
  folder_.write("mine/odd/grid.yaml", "schema: tiersim.grid/v1\nrows: 3\n");
  const auto folder = folder_.path() / "mine/odd";
  for (const std::string& name :
       {std::string("mine/odd"), std::string("./mine/odd"), std::string("mine/odd/grid.yaml"),
        folder.string(), (folder / "grid.yaml").string()}) {
    const Loaded got = load("grid: {shape: " + name + "}\n");
    EXPECT_EQ(got.mistakes, "") << name;
    EXPECT_EQ(got.grid.rows, 3) << name;
  }
  EXPECT_EQ(load("grid: {shape: flat}\n", {"grid.shape=" + folder.string()}).grid.rows, 3);
  // A name that is there is no path.
  folder_.write("flat/grid.yaml", "schema: tiersim.grid/v1\nrows: 1\n");
  EXPECT_EQ(load("grid: {shape: flat}\n").grid.rows, 4);
  EXPECT_EQ(load("grid: {shape: ./flat}\n").grid.rows, 1);
  EXPECT_EQ(load("grid: {shape: ./none}\n").mistakes,
            "board.yaml:2:15: error: there is no shape './none' (looked for none/grid.yaml and "
            "shipped/none/grid.yaml)\n");
}

TEST_F(NamedBaseTest, PointsAtTheLineOfTheFile) {
  shelve("odd", "name: odd\nrows: 400\n");
  EXPECT_EQ(load("grid: {shape: odd}\n").mistakes,
            "shipped/shapes/odd/grid.yaml:3:7: error: grid.rows: '400' is out of range (allowed: 0 "
            "to 100)\n");
}

TEST_F(NamedBaseTest, HoldsFilesOfTheKeysThatTheyMayHave) {
  EXPECT_EQ(load("grid: {shape: round}\n", {}, {"cells"}).mistakes, "");
  shelve("odd", "name: odd\ncells: {rim: {width: 1}}\ncels: {}\n");
  EXPECT_EQ(load("grid: {shape: [odd, flat], rows: 9}\n", {}, {"cells"}).mistakes,
            "shipped/shapes/flat/grid.yaml:2:1: error: a file of 'shapes' cannot have the key "
            "'rows' (one of: cells)\n"
            "shipped/shapes/odd/grid.yaml:2:1: error: a file of 'shapes' cannot have the key "
            "'name' (one of: cells)\n"
            "shipped/shapes/odd/grid.yaml:4:1: error: a file of 'shapes' cannot have the key "
            "'cels' (did you mean 'cells'? one of: cells)\n");
}

TEST_F(NamedBaseTest, WithoutTheNameSaysWhichThereAre) {
  EXPECT_EQ(load("grid: {shape: flet}\n").mistakes,
            "board.yaml:2:15: error: there is no shape 'flet' (did you mean 'flat'? one of: flat, "
            "round)\n");
  EXPECT_EQ(load("grid:\n  shape: [flat, square]\n").mistakes,
            "board.yaml:3:17: error: there is no shape 'square' (one of: flat, round)\n");
  EXPECT_EQ(load("grid: {shape: ''}\n").mistakes,
            "board.yaml:2:15: error: there is no shape '' (one of: flat, round)\n");
  std::filesystem::remove_all(folder_.path() / "shipped");
  EXPECT_EQ(load("grid: {shape: flat}\n").mistakes,
            "board.yaml:2:15: error: there is no shape 'flat' (there is none in shapes and "
            "shipped/shapes)\n");
}

TEST_F(NamedBaseTest, TakesNamesOnly) {
  EXPECT_EQ(load("grid: {shape: {flat: 1}}\n").mistakes,
            "board.yaml:2:15: error: expected a name or a list of them as shape, found a "
            "mapping\n");
  EXPECT_EQ(load("grid: {shape: []}\n").mistakes,
            "board.yaml:2:15: error: expected a name or a list of them as shape, found a list\n");
}

TEST_F(NamedBaseTest, HoldsFilesOfTheKindOfTheMapping) {
  folder_.write("shipped/shapes/odd/grid.yaml", "schema: tiersim.board/v1\nrows: 1\n");
  EXPECT_EQ(load("grid: {shape: odd}\n").mistakes,
            "shipped/shapes/odd/grid.yaml:1:9: error: grid: expected schema tiersim.grid/v1, found "
            "'tiersim.board/v1'\n");
  folder_.write("shipped/shapes/odd/grid.yaml", "rows: 1\n");
  EXPECT_EQ(load("grid: {shape: odd}\n").mistakes,
            "shipped/shapes/odd/grid.yaml:1:1: error: missing required key 'schema' "
            "('shipped/shapes/odd/grid.yaml' begins with schema: tiersim.<kind>/v1)\n");
}

TEST_F(NamedBaseTest, NamesAreInTheSchemaAsOneOrAList) {
  const std::string schema = json_schema<Grid>("grid", "A grid");
  const std::size_t at = schema.find("\"shape\": {");
  ASSERT_NE(at, std::string::npos);
  const std::string part = schema.substr(at, 200);
  EXPECT_NE(part.find("\"Shapes by name.\""), std::string::npos) << part;
  EXPECT_NE(part.find("\"anyOf\""), std::string::npos) << part;
}

}  // namespace
}  // namespace tiersim::named_base_test
