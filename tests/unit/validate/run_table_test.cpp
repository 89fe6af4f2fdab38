// A table of measured runs, read by its description.
#include "sim/validate/run_table.hpp"
#include "sim/validate/run_json.hpp"

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "sim/config/document.hpp"

namespace tiersim::run_table_test {
namespace {

constexpr const char* kDescription =
    "schema: tiersim.run_table/v1\n"
    "description: runs of a test\n"
    "config: serving/x.yaml\n"
    "columns: [name, engine, gpus, users, out, ttft_ms, tpot_ms]\n"
    "empty: {gpus: \"1\"}\n"
    "values: [{name: tokens, is: \"out / 2\"}]\n"
    "id: \"{name}-u{users}\"\n"
    "group: \"{engine} 1.0\"\n"
    "skip: [{where: \"gpus > 8\", why: more than a node}]\n"
    "apart: \"ttft_ms > 1000\"\n"
    "cases:\n"
    "  - {column: engine, set: {vllm: [server.base=servers/vllm_v1.yaml]}}\n"
    "set: [\"system.gpus.count={gpus}\", \"workload.output.tokens={tokens}\"]\n"
    "users: users\n"
    "requests_per_user: 3\n"
    "ttft: \"ttft_ms / 1000\"\n"
    "tpot: \"if(tpot_ms == 0, '', tpot_ms / 1000)\"\n"
    "assumed: nothing\n";

RunTableConfig description(const std::string& text = kDescription) {
  Diagnostics diagnostics;
  const Document document = load_text(text, "runs.yaml", {}, diagnostics);
  auto config = read<RunTableConfig>(document, "run_table", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return config;
}

constexpr const char* kHeader = "engine,name,gpus,users,out,ttft_ms,tpot_ms,more\n";

TEST(RunTable, MakesARunOfEachRow) {
  const auto table =
      read_run_table("t.csv",
                     std::string(kHeader) +
                         "vllm,A b,,4,100,20,5,x\nvllm,c,2,8,100,2000,6,x\nvllm,d,16,8,1,1,1,x\n"
                         "sglang,e,1,8,1,1,1,x\n",
                     description());
  ASSERT_TRUE(table) << table.error().text();
  ASSERT_EQ(table->runs.groups.size(), 2U);
  const PublishedGroup& group = table->runs.groups[0];
  EXPECT_EQ(group.id, "vllm-1-0");
  EXPECT_EQ(group.engine, "vllm 1.0");
  EXPECT_TRUE(group.counted);
  ASSERT_EQ(group.runs.size(), 1U);
  const PublishedRun& run = group.runs[0];
  EXPECT_EQ(run.id, "a-b-u4");
  EXPECT_EQ(run.users, 4);
  EXPECT_EQ(settings_of(group, run),
            (std::vector<std::string>{"workload.arrivals.users=4", "workload.requests=12",
                                      "server.base=servers/vllm_v1.yaml", "system.gpus.count=1",
                                      "workload.output.tokens=50"}));
  EXPECT_EQ(run.published.ttft, Duration(20'000'000'000));
  EXPECT_EQ(run.published.tpot, Duration(5'000'000'000));
  EXPECT_FALSE(run.published.throughput);
  EXPECT_EQ(table->runs.groups[1].id, "vllm-1-0-apart");
  EXPECT_FALSE(table->runs.groups[1].counted);
  EXPECT_EQ(table->skipped, (std::map<std::string, std::int64_t>{
                                {"more than a node", 1}, {"engine 'sglang' is not described", 1}}));
}

TEST(RunTable, AResultMayBeAbsent) {
  const auto table =
      read_run_table("t.csv", std::string(kHeader) + "vllm,a,1,4,100,20,0,x\n", description());
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_FALSE(table->runs.groups[0].runs[0].published.tpot);
}

TEST(RunTable, AColumnMayHaveAnotherName) {
  const RunTableConfig config =
      description(std::string(kDescription) + "also: {users: batch, out: osl}\n");
  const auto table = read_run_table("t.csv",
                                    "engine,name,gpus,batch,out,ttft_ms,tpot_ms\n"
                                    "vllm,a,1,4,100,20,5\n",
                                    config);
  ASSERT_TRUE(table) << table.error().text();
  const PublishedGroup& group = table->runs.groups[0];
  EXPECT_EQ(group.runs[0].users, 4);
  EXPECT_EQ(settings_of(group, group.runs[0]).back(), "workload.output.tokens=50");
  const auto none = read_run_table("t.csv", "engine,name,gpus,out,ttft_ms,tpot_ms\n", config);
  EXPECT_FALSE(none);
  const auto both =
      read_run_table("t.csv", "engine,name,gpus,users,out,osl,ttft_ms,tpot_ms\n", config);
  ASSERT_FALSE(both);
  EXPECT_NE(both.error().text().find("columns 'out' and 'osl' are two names of one"),
            std::string::npos);
  const auto json = read_run_table(
      "t.json",
      R"({"engine": "vllm", "name": "a", "batch": 4, "osl": 100, "ttft_ms": 20, "tpot_ms": 5})",
      config);
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ(json->runs.groups[0].runs[0].users, 4);
}

TEST(RunTable, ARunThatIsThereTwiceCountsOnce) {
  const std::string rows = std::string(kHeader) +
                           "vllm,a,1,4,100,20,5,x\nvllm,b,1,4,100,20,5,x\n"
                           "vllm,c,1,4,100,21,5,x\n";
  const auto all = read_run_table("t.csv", rows, description());
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(all->runs.groups[0].runs.size(), 3U);
  const auto once =
      read_run_table("t.csv", rows,
                     description(std::string(kDescription) +
                                 "once: \"{engine} {gpus} {users} {out} {ttft_ms} {tpot_ms}\"\n"));
  ASSERT_TRUE(once) << once.error().text();
  ASSERT_EQ(once->runs.groups[0].runs.size(), 2U);
  EXPECT_EQ(once->runs.groups[0].runs[1].id, "c-u4");
  EXPECT_EQ(once->skipped.at("the same run is above"), 1U);
}

TEST(RunTable, AStarStandsForAnyOtherText) {
  std::string text = kDescription;
  const std::string from = "set: {vllm: [";
  text.replace(text.find(from), from.size(), "set: {'*': [routing=x], vllm: [");
  const auto table = read_run_table("t.csv", std::string(kHeader) + "sglang,a,1,4,100,20,5,x\n",
                                    description(text));
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->runs.groups[0].runs[0].set[0], "routing=x");
}

TEST(RunTable, AColumnWithAValueForEmptyCellsMayBeAbsent) {
  const auto table = read_run_table(
      "t.csv", "engine,name,users,out,ttft_ms,tpot_ms\nvllm,a,4,100,20,5\n", description());
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->runs.groups[0].runs[0].set[1], "system.gpus.count=1");
}

using Rows = std::vector<std::vector<std::string>>;

// The header and the rows, each behind its line; or the mistakes alone.
Rows rows_of(const std::string& json, const std::vector<std::string>& columns) {
  Diagnostics diagnostics;
  const auto table = table_of_json("r.json", json, columns, diagnostics);
  if (!diagnostics.ok()) return {{diagnostics.text()}};
  Rows out(1);
  for (const auto& cell : table.header.cells) out[0].push_back(cell.text);
  for (const auto& row : table.rows) {
    out.push_back({std::to_string(row.line)});
    for (const auto& cell : row.cells) out.back().push_back(cell.text);
  }
  return out;
}

// A version 0.20 is a text where the description says so, and would else be the number .2.
TEST(RunTable, AColumnOfTextsHasNoNumbers) {
  for (const auto& [empty, id] : {std::pair{"", "0-20-u4"}, {"none", "0-2-u4"}}) {
    std::string text = kDescription;
    const auto put = [&](const std::string& from, const std::string& to) {
      const std::size_t at = text.find(from);
      ASSERT_NE(at, std::string::npos);
      text.replace(at, from.size(), to);
    };
    put(R"(empty: {gpus: "1"})", R"(empty: {gpus: "1", name: ")" + std::string(empty) + R"("})");
    const auto table = read_run_table("t.csv", std::string(kHeader) + "vllm,0.20,1,4,100,20,5,x\n",
                                      description(text));
    ASSERT_TRUE(table) << table.error().text();
    EXPECT_EQ(table->runs.groups.at(0).runs.at(0).id, id);
  }
}

TEST(RunJson, MakesARowOfEachObject) {
  const std::string row = R"({"a": 1.5, "b": {"c": "x, \"y\"", "d": [1, 2]}, "e": true, "f": 7})";
  const std::vector<std::string> columns = {"a", "b.c", "b.d", "e"};
  const std::vector<std::string> header = {"a", "b.c", "e"};
  const auto at = [](const std::string& line) {
    return std::vector<std::string>{line, "1.5", "x, \"y\"", "true"};
  };
  EXPECT_EQ(rows_of(row, columns), (Rows{header, at("1")}));
  EXPECT_EQ(rows_of("\n[" + row + ",\n" + row + "]", columns), (Rows{header, at("2"), at("2")}));
  EXPECT_EQ(rows_of("\xEF\xBB\xBF" + row + "\n\n{\"a\": 2}\n", columns),
            (Rows{header, at("1"), {"3", "2", "", ""}}));
  EXPECT_TRUE(looks_like_json(" \n" + row));
  EXPECT_FALSE(looks_like_json("a,b\n1,2\n"));
}

TEST(RunJson, ReadsTheSpecialNumbersOfPython) {
  EXPECT_EQ(rows_of(R"({"a": Infinity, "b": NaN, "c": "NaN \" Infinity"})", {"a", "b", "c"}),
            (Rows{{"a", "b", "c"}, {"1", "inf", "", "NaN \" Infinity"}}));
}

TEST(RunJson, TellsMistakesWithTheirLines) {
  const auto mistake = [](const std::string& json) { return rows_of(json, {"a"})[0][0]; };
  EXPECT_EQ(mistake("{\"a\": 1}\n{\"a\": }\n"), "r.json:2:7: error: is no JSON from here on\n");
  for (const char* none : {"[]", "\n"})
    EXPECT_EQ(mistake(none), "r.json:1:1: error: holds no result, which is an object\n");
  EXPECT_EQ(mistake(" [1, {}]"),
            "r.json:1:2: error: holds something that is no result, which is an object\n");
  EXPECT_EQ(mistake("{\"a\": 1e400}"), "r.json:1:1: error: holds a number beyond 1.8e308\n");
  std::string deep;
  for (int i = 0; i < 60'000; ++i) deep += "{\"a\":";
  EXPECT_EQ(mistake(deep + "1" + std::string(60'000, '}')),
            "r.json:1:1: error: has objects that are nested more than 32 deep\n");
}

std::string mistakes(const std::string& csv) {
  const auto table = read_run_table("t.csv", csv, description());
  return table ? "" : table.error().text();
}

TEST(RunTable, TellsMistakesWithTheirLines) {
  EXPECT_EQ(mistakes("engine,name\nvllm,a\n").substr(0, 43),
            "t.csv:1:1: error: there is no column 'out' ");
  EXPECT_EQ(mistakes(std::string(kHeader) + "vllm,a,1,4,100,soon,5,x\n").substr(0, 16),
            "t.csv:2:1: error");
  EXPECT_EQ(mistakes(std::string(kHeader) + "vllm,a,1,4,100,-3,5,x\n"),
            "t.csv:2:1: error: 'ttft_ms / 1000' gives no number above 0\n");
  EXPECT_EQ(mistakes(std::string(kHeader) + "vllm,a,1,4,100,3,5,x\nvllm,a,1,4,100,3,5,x\n"),
            "t.csv:3:1: error: a run of vllm-1-0 is named 'a-u4' for the second time\n");
  EXPECT_EQ(mistakes("engine,name,users,out,ttft_ms,tpot_ms,out\nvllm,a,4,1,3,5,1\n"),
            "t.csv:1:39: error: column 'out' stands twice\n");
  for (const char* nothing : {"", "{\"other\": 1}"})
    EXPECT_EQ(mistakes(nothing),
              "t.csv:1:1: error: has none of the columns (columns: name, engine, gpus, users, out, "
              "ttft_ms, tpot_ms)\n");
  EXPECT_EQ(mistakes(std::string(kHeader) + "vllm,a,1,2.5,100,3,5,x\n"),
            "t.csv:2:1: error: 'users' gives 2.5 users (a whole number from 1 to 1000000)\n");
  EXPECT_EQ(mistakes(std::string(kHeader) + "vllm,a,1,4,100,1e-12,5,x\n"),
            "t.csv:2:1: error: 'ttft_ms / 1000' gives 1e-15 s (1e-12 s to 1000000 s)\n");
}

std::string refusal(const std::string& from, const std::string& to) {
  std::string text = kDescription;
  text.replace(text.find(from), from.size(), to);
  Diagnostics diagnostics;
  const Document document = load_text(text, "runs.yaml", {}, diagnostics);
  (void)read<RunTableConfig>(document, "run_table", diagnostics);
  return diagnostics.text();
}

TEST(RunTable, ADescriptionIsCheckedBeforeAnyRow) {
  EXPECT_NE(refusal("{name}-u", "{nmae}-u").find("uses 'nmae', which is no column"),
            std::string::npos);
  EXPECT_NE(refusal("out / 2", "out /").find("is no formula"), std::string::npos);
  EXPECT_NE(refusal("empty: {gpus", "empty: {gups").find("is none of the columns"),
            std::string::npos);
  EXPECT_NE(refusal("column: engine, set", "column: motor, set").find("is no column and no value"),
            std::string::npos);
  const auto with = [](const std::string& line) {
    return refusal("assumed:", line + "\nassumed:");
  };
  EXPECT_NE(with("once: engine").find("is the same text for every row"), std::string::npos);
  EXPECT_NE(with("also: {users: a, out: a}").find("stands for two columns"), std::string::npos);
  EXPECT_NE(with("also: {users: out}").find("is the name of a column"), std::string::npos);
  EXPECT_NE(with("also: {usres: a}").find("is none of the columns"), std::string::npos);
}

TEST(RunTable, PiecesOfATextAreFormulasInBraces) {
  const auto braces = text_pieces("{{x: {y}}}");
  ASSERT_EQ(braces.size(), 3U);
  EXPECT_EQ(braces[0].text, "{x: ");
  EXPECT_EQ(braces[1].text, "y");
  EXPECT_EQ(braces[2].text, "}");
  const auto pieces = text_pieces("a{b}{c + 1}d{");
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_EQ(pieces[1].text, "b");
  EXPECT_TRUE(pieces[2].formula);
  EXPECT_EQ(pieces[3].text, "d{");
  EXPECT_FALSE(pieces[3].formula);
}

}  // namespace
}  // namespace tiersim::run_table_test
