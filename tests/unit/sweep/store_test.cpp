// A store of sweeps: what is written is read back, a killed writer loses nothing that was
// committed, and the bytes of a compacted store are those of its content.
#include "sim/sweep/store.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace tiersim::store_test {
namespace {
namespace fs = std::filesystem;

StoredSweep sweep_of(std::int64_t points) {
  return {.name = "pool",
          .file = "pool.yaml",
          .digest = "d1",
          .spec = "{}",
          .version = "1.0",
          .extent = "times/results",
          .columns = {{"context", "step.context", true}, {"method", "", false}},
          .points = points};
}

StoredPoint point_at(std::int64_t position) {
  const std::string id = fmt::format("{:064x}", position + 1000);
  return {{.position = position,
           .scenario = "a.yaml",
           .set = {fmt::format("step.context={}", 1024 * position)},
           .labels = {fmt::format("{}", 1024 * position), position % 2 == 0 ? "MAPLE" : ""}},
          {id, PointStatus::ok, "",
           fmt::format(R"({{"metrics":{{"tpot_s":{{"value":{},"unit":"s","class":"assumed"}}}}}})",
                       position)}};
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class StoreTest : public ::testing::Test {
 protected:
  fs::path file(const std::string& name) const { return folder_.path() / name; }

  // A store with these positions, in this order, one commit each.
  fs::path written(const std::string& name, const std::vector<std::int64_t>& positions,
                   const std::string& extent = "times/results") const {
    SweepStore store(file(name), SweepStore::Access::write);
    StoredSweep sweep = sweep_of(6);
    sweep.extent = extent;
    sweep.sweep = store.add(sweep, {{Point{"a.yaml", {}}, R"({"name":"a"})"}});
    for (const std::int64_t position : positions) {
      const StoredPoint point = point_at(position);
      store.write(sweep, {&point, 1});
    }
    return file(name);
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(StoreTest, ReadsBackWhatWasWritten) {
  const fs::path path = written("a.db", {2, 0, 1});
  SweepStore store(path, SweepStore::Access::read);
  const auto sweep = store.find("d1");
  ASSERT_TRUE(sweep.has_value());
  EXPECT_EQ(sweep->columns[0].key, "step.context");
  EXPECT_EQ(sweep->points, 6);
  std::vector<StoredPoint> points;
  store.for_each(*sweep, [&](const StoredPoint& point) {
    points.push_back(point);
    return true;
  });
  ASSERT_EQ(points.size(), 3U);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(points[static_cast<std::size_t>(i)].point, point_at(i).point);
    EXPECT_EQ(points[static_cast<std::size_t>(i)].outcome.results, point_at(i).outcome.results);
  }
  EXPECT_EQ(store.inputs(1).front().second, R"({"name":"a"})");
}

TEST_F(StoreTest, HasTheSameBytesWhateverOrderPointsCameIn) {
  const fs::path forward = written("a.db", {0, 1, 2, 3, 4, 5});
  const fs::path backward = written("b.db", {5, 3, 4, 1, 0, 2});
  EXPECT_TRUE(compact(forward));
  EXPECT_TRUE(compact(backward));
  EXPECT_EQ(bytes_of(forward), bytes_of(backward));
  const std::string once = bytes_of(forward);
  EXPECT_TRUE(compact(forward));
  EXPECT_EQ(bytes_of(forward), once);
  EXPECT_FALSE(fs::exists(forward.string() + "-wal"));
}

TEST_F(StoreTest, MergesShardsToTheBytesOfTheWhole) {
  const fs::path whole = written("whole.db", {0, 1, 2, 3, 4, 5});
  EXPECT_TRUE(compact(whole));
  const fs::path odd = written("odd.db", {1, 3, 5});
  const fs::path even = written("even.db", {4, 2, 0});
  {
    SweepStore merged(file("merged.db"), SweepStore::Access::write);
    merged.merge(odd);
    merged.merge(even);
    merged.merge(even);  // what is there already stays
  }
  EXPECT_TRUE(compact(file("merged.db")));
  EXPECT_EQ(bytes_of(file("merged.db")), bytes_of(whole));
}

TEST_F(StoreTest, MetricsAreReadBackAsWrittenFromOneTextOfTheirNames) {
  const fs::path path = written("a.db", {2, 0, 1}, "times/metrics");
  SweepStore store(path, SweepStore::Access::read);
  std::vector<std::string> results;
  store.for_each(store.sweeps().front(), [&](const StoredPoint& point) {
    results.push_back(point.outcome.results);
    return true;
  });
  ASSERT_EQ(results.size(), 3U);
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(results[static_cast<std::size_t>(i)], point_at(i).outcome.results);
  Sqlite db(path, Sqlite::Open::read);
  Statement shapes(db, "SELECT count(*) FROM shapes");
  ASSERT_TRUE(shapes.step());
  EXPECT_EQ(shapes.integer(0), 1);
  Statement metrics(db, "SELECT position, metric, value, unit, class FROM point_metrics");
  while (metrics.step()) {
    EXPECT_EQ(metrics.text(1), "tpot_s");
    EXPECT_EQ(metrics.integer(2), metrics.integer(0));
    EXPECT_EQ(metrics.text(4), "assumed");
  }
}

TEST_F(StoreTest, StoresOfMetricsAreTheSameBytesInAnyOrderAndMerged) {
  const fs::path forward = written("a.db", {0, 1, 2, 3, 4, 5}, "times/metrics");
  const fs::path backward = written("b.db", {5, 3, 4, 1, 0, 2}, "times/metrics");
  const fs::path odd = written("odd.db", {5, 1, 3}, "times/metrics");
  const fs::path even = written("even.db", {4, 0, 2}, "times/metrics");
  {
    SweepStore merged(file("merged.db"), SweepStore::Access::write);
    merged.merge(odd);
    merged.merge(even);
    merged.expect_whole();
  }
  for (const fs::path& path : {forward, backward, file("merged.db")}) ASSERT_TRUE(compact(path));
  EXPECT_EQ(bytes_of(forward), bytes_of(backward));
  EXPECT_EQ(bytes_of(forward), bytes_of(file("merged.db")));
  SweepStore(forward, SweepStore::Access::read).expect_whole();
}

TEST_F(StoreTest, AChangedNameOrNumberOfMetricsIsDamage) {
  for (const char* sql :
       {"UPDATE shapes SET text = replace(text, 'tpot_s', 'ttft_s')", "DELETE FROM shapes",
        "UPDATE results SET results = '[7]' WHERE rowid = 2", "UPDATE results SET results = '[]'",
        "UPDATE results SET shape = NULL"}) {
    const fs::path path = written("a.db", {0, 1}, "times/metrics");
    ASSERT_NO_THROW(SweepStore(path, SweepStore::Access::read).expect_whole());
    Sqlite(path, Sqlite::Open::write).execute(sql);
    EXPECT_THROW(SweepStore(path, SweepStore::Access::read).expect_whole(), DamagedStore) << sql;
    fs::remove(path);
  }
}

// What a point adds to a store besides the text of its numbers: an id of 32 bytes in three places
// (point, result, index) and its labels are most of it.
TEST_F(StoreTest, APointTakesLessThan200BytesBesideItsMetrics) {
  constexpr std::int64_t kPoints = 20'000;
  std::int64_t numbers = 0;
  const auto size_of = [&](std::int64_t points) {
    const fs::path path = file("a.db");
    {
      SweepStore store(path, SweepStore::Access::write);
      StoredSweep sweep = sweep_of(points);
      sweep.extent = "analytic/metrics";
      sweep.version = "0.10.0";
      sweep.columns = {{"far_bandwidth", "what_if.far_bandwidth", true},
                       {"budget", "method.budget", true},
                       {"context", "step.context", true},
                       {"rows", "", true}};
      sweep.sweep = store.add(sweep, {{Point{"a.yaml", {}}, R"({"name":"a"})"}});
      numbers = 0;
      for (std::int64_t i = 0; i < points; ++i) {
        const std::string values[] = {
            fmt::format("{}", 1 + 0.0877637 * static_cast<double>(i % 50)),
            fmt::format("{}", 0.01 * static_cast<double>(i % 40)),
            fmt::format("{}", 1024 * (i % 100))};
        StoredPoint point{
            {.position = i,
             .scenario = "scenarios/methods/llama3_8b_maple.yaml",
             .set = {"what_if.far_bandwidth=" + values[0], "method.budget=" + values[1],
                     "step.context=" + values[2]},
             .labels = {values[0], values[1], values[2], fmt::format("{}", i % 7000)}},
            {fmt::format("{:016x}{:048x}", i * 7919 % 1000003, i), PointStatus::ok, "", ""}};
        point.outcome.results = R"({"metrics":{)";
        for (int m = 0; m < 15; ++m) {
          const std::string number = fmt::format("{}", 1e6 + static_cast<double>(i * (m + 1)));
          numbers += static_cast<std::int64_t>(number.size()) + 1;
          point.outcome.results += fmt::format(
              R"({}"far_load_bytes_{}":{{"value":{},"unit":"B","class":"specification"}})",
              m == 0 ? "" : ",", m, number);
        }
        point.outcome.results += "}}";
        store.write(sweep, {&point, 1});
      }
      store.end_writing();
    }
    EXPECT_TRUE(compact(path));
    const auto out = static_cast<std::int64_t>(fs::file_size(path));
    fs::remove(path);
    return out;
  };
  const std::int64_t empty = size_of(1);
  const std::int64_t full = size_of(kPoints);
  EXPECT_LT(full - empty - numbers, 200 * kPoints);
}

TEST_F(StoreTest, AnErrorGivesWayToAResultAndNothingElseDoes) {
  const fs::path path = file("a.db");
  SweepStore store(path, SweepStore::Access::write);
  StoredSweep sweep = sweep_of(1);
  sweep.sweep = store.add(sweep, {});
  StoredPoint failed = point_at(0);
  failed.outcome = {failed.outcome.id, PointStatus::error, "step.batch: is 0", ""};
  store.write(sweep, {&failed, 1});
  EXPECT_EQ(store.count(1, PointStatus::error), 1);
  const StoredPoint good = point_at(0);
  store.write(sweep, {&good, 1});
  EXPECT_EQ(store.count(1, PointStatus::ok), 1);
  store.write(sweep, {&failed, 1});
  EXPECT_EQ(store.count(1, PointStatus::error), 0);
  EXPECT_EQ(store.result(sweep, good.outcome.id)->results, good.outcome.results);
}

TEST_F(StoreTest, PointsOfOtherSweepsShareTheirResults) {
  const fs::path path = written("a.db", {0, 1});
  SweepStore store(path, SweepStore::Access::write);
  StoredSweep other = sweep_of(1);
  other.digest = "d2";
  other.sweep = store.add(other, {});
  StoredPoint again = point_at(1);
  again.point.position = 0;
  again.outcome.results.clear();  // it was found, not run
  store.write(other, {&again, 1});
  EXPECT_EQ(store.count(other.sweep, PointStatus::ok), 1);
  std::vector<std::string> ids;
  store.ids(other, [&](const std::string& id) { ids.push_back(id); });
  EXPECT_EQ(ids.size(), 2U);
  other.version = "1.1";  // results of another version are others
  ids.clear();
  store.ids(other, [&](const std::string& id) { ids.push_back(id); });
  EXPECT_TRUE(ids.empty());
}

TEST_F(StoreTest, ViewsHaveOneRowANumberForOtherPrograms) {
  const fs::path path = written("a.db", {0, 1});
  Sqlite db(path, Sqlite::Open::read);
  Statement metrics(db, "SELECT position, metric, value, unit, class FROM point_metrics");
  ASSERT_TRUE(metrics.step());
  EXPECT_EQ(metrics.text(1), "tpot_s");
  EXPECT_EQ(metrics.integer(2), 0);
  EXPECT_EQ(metrics.text(3), "s");
  EXPECT_EQ(metrics.text(4), "assumed");
  Statement labels(db, "SELECT count(*), sum(label) FROM point_labels WHERE axis = 'context'");
  ASSERT_TRUE(labels.step());
  EXPECT_EQ(labels.integer(0), 2);
  EXPECT_EQ(labels.integer(1), 1024);  // numbers, not text
}

TEST_F(StoreTest, SaysWhatIsNoStore) {
  std::ofstream(file("text.yaml")) << "schema: tiersim.sweep/v1\n";
  EXPECT_FALSE(SweepStore::is_store(file("text.yaml")));
  EXPECT_THROW(SweepStore(file("text.yaml"), SweepStore::Access::read), StoreError);
  EXPECT_THROW(SweepStore(file("none.db"), SweepStore::Access::read), StoreError);
  { Sqlite(file("other.db"), Sqlite::Open::create).execute("CREATE TABLE t(x)"); }
  EXPECT_TRUE(SweepStore::is_store(file("other.db")));
  EXPECT_THROW(SweepStore(file("other.db"), SweepStore::Access::read), StoreError);
}

// Each of these changes leaves a file that SQLite has nothing against.
TEST_F(StoreTest, FindsEveryChangedRow) {
  constexpr std::pair<const char*, const char*> kDamages[] = {
      {"UPDATE sweeps SET columns = '['", "sweep 1"},
      {"UPDATE sweeps SET spec = '{} '", "sweep 1"},
      {"UPDATE sweeps SET points = 7", "sweep 1"},
      {"UPDATE inputs SET text = substr(text, 1, 5)", "the input 'a.yaml' of sweep 1"},
      {"UPDATE inputs SET settings = '['", "the input 'a.yaml' of sweep 1"},
      {"UPDATE forms SET settings = '['", "point 0 of sweep 1"},
      {"UPDATE forms SET settings = '[[\"step.context=\",7]]'", "point 0 of sweep 1"},
      {"UPDATE forms SET scenario = 'b.yaml'", "point 0 of sweep 1"},
      {"DELETE FROM forms", "point 0 of sweep 1"},
      {"UPDATE points SET form = 7 WHERE position = 1", "point 1 of sweep 1"},
      {"UPDATE points SET labels = '[1025,null]' WHERE position = 1", "point 1 of sweep 1"},
      {"UPDATE points SET labels = '[1024]' WHERE position = 1", "point 1 of sweep 1"},
      {"UPDATE points SET labels = '[1024,\"' WHERE position = 1", "point 1 of sweep 1"},
      {"UPDATE points SET position = 5 WHERE position = 1", "point 5 of sweep 1"},
      {"UPDATE points SET id = zeroblob(32) WHERE position = 1", "point 1 of sweep 1"},
      {"UPDATE points SET id = substr(id, 2) WHERE position = 1", "point 1 of sweep 1"},
      {"UPDATE results SET results = replace(results, '1', '2')", "the result of "},
      {"UPDATE results SET status = 'infeasible'", "the result of "},
      {"UPDATE results SET status = 'fine'", "the result of "},
      {"UPDATE kinds SET version = '1.1'", "the result of "},
      {"DELETE FROM kinds", "the result of "},
      {"DROP INDEX IF EXISTS results_by_id; INSERT INTO results SELECT * FROM results",
       "it is there twice"},
  };
  for (const auto& [sql, row] : kDamages) {
    const fs::path path = written("a.db", {0, 1});
    ASSERT_NO_THROW(SweepStore(path, SweepStore::Access::read).expect_whole());
    Sqlite(path, Sqlite::Open::write).execute(sql);
    try {
      SweepStore(path, SweepStore::Access::read).expect_whole();
      ADD_FAILURE() << sql;
    } catch (const DamagedStore& error) {
      EXPECT_NE(std::string(error.what()).find(row), std::string::npos) << sql << error.what();
    }
    fs::remove(path);
  }
}

// SQLite changes rows without their index while the index is not in its table of contents.
TEST_F(StoreTest, AnIndexThatLeadsToAnotherRowIsDamage) {
  const fs::path path = written("a.db", {0, 1});
  ASSERT_TRUE(compact(path));
  const auto execute = [&](const char* sql) { Sqlite(path, Sqlite::Open::write).execute(sql); };
  execute(
      "PRAGMA writable_schema = ON; CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = "
      "'results_by_id'; DELETE FROM sqlite_master WHERE name = 'results_by_id'");
  execute("UPDATE results SET rowid = -rowid; UPDATE results SET rowid = rowid + 3");
  execute(
      "PRAGMA writable_schema = ON; INSERT INTO sqlite_master SELECT * FROM kept; DROP TABLE kept");
  EXPECT_THROW(SweepStore(path, SweepStore::Access::read).expect_whole(), DamagedStore);
}

// Found by a fuzzer: an index of points may name one that has no row.
TEST_F(StoreTest, APointWithoutARowIsDamage) {
  const fs::path path = written("a.db", {0, 1});
  SweepStore store(path, SweepStore::Access::read);
  const StoredSweep sweep = store.sweeps().front();
  EXPECT_EQ(store.id_of(sweep, 1).size(), 64U);
  EXPECT_THROW(store.id_of(sweep, 7), DamagedStore);
}

TEST_F(StoreTest, AReaderIsToldOfAChangedRowThatItReads) {
  const fs::path path = written("a.db", {0, 1});
  Sqlite(path, Sqlite::Open::write)
      .execute("UPDATE results SET results = replace(results, '1', '2') WHERE rowid = 2");
  SweepStore store(path, SweepStore::Access::read);
  const StoredSweep sweep = store.sweeps().front();
  std::vector<std::int64_t> seen;
  EXPECT_THROW(store.for_each(sweep,
                              [&](const StoredPoint& point) {
                                seen.push_back(point.point.position);
                                return true;
                              }),
               DamagedStore);
  EXPECT_EQ(seen, std::vector<std::int64_t>{0});
}

// An answer is of a point, not of its configuration, and goes wherever the point goes.
TEST_F(StoreTest, AnAnswerIsKeptCopiedMergedAndChecked) {
  const auto answers_in = [&](const std::string& name) {
    SweepStore store(file(name), SweepStore::Access::read);
    std::vector<std::string> out;
    store.for_each(store.sweeps().front(), [&](const StoredPoint& point) {
      out.push_back(point.outcome.answer);
      return true;
    });
    return out;
  };
  {
    SweepStore store(file("a.db"), SweepStore::Access::write);
    StoredSweep sweep = sweep_of(2);
    sweep.sweep = store.add(sweep, {});
    for (const std::int64_t position : {1, 0}) {
      StoredPoint point = point_at(position);
      point.outcome.id = point_at(0).outcome.id;  // one result for both
      if (position == 1) point.outcome.answer = R"({"outcome":"never"})";
      store.write(sweep, {&point, 1});
    }
    store.end_writing();
  }
  const std::vector<std::string> both{"", R"({"outcome":"never"})"};
  EXPECT_EQ(answers_in("a.db"), both);
  { SweepStore(file("b.db"), SweepStore::Access::write).merge(file("a.db")); }
  EXPECT_EQ(answers_in("b.db"), both);
  ASSERT_TRUE(compact(file("a.db")));
  EXPECT_EQ(answers_in("a.db"), both);
  Sqlite(file("a.db"), Sqlite::Open::write)
      .execute("UPDATE points SET answer = '{}' WHERE position = 1");
  EXPECT_THROW(answers_in("a.db"), DamagedStore);
}

TEST_F(StoreTest, AConfigurationHasOneResult) {
  const fs::path path = written("a.db", {0, 1});
  Sqlite(path, Sqlite::Open::write)
      .execute("DROP INDEX IF EXISTS results_by_id; INSERT INTO results SELECT * FROM results");
  SweepStore store(path, SweepStore::Access::write);
  const StoredSweep sweep = store.sweeps().front();
  const StoredPoint point = point_at(2);
  EXPECT_THROW(store.write(sweep, {&point, 1}), DamagedStore);
}

TEST(LabelsJson, NumbersThatReadBackAsTheyAreAreNumbers) {
  const std::vector<SpaceColumn> columns{{"a"}, {"b"}, {"c"}, {"d"}};
  EXPECT_EQ(labels_json(columns, {"8192", "0.10", "", "48 GB/s"}),
            R"({"a":8192,"b":"0.10","d":"48 GB/s"})");
  EXPECT_EQ(labels_json(columns, {"inf", "nan", "-0", "-2.5"}),
            R"({"a":"inf","b":"nan","c":"-0","d":-2.5})");
}

}  // namespace
}  // namespace tiersim::store_test
