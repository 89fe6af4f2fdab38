// The cases in hwmodels/sensitivity.csv that catch a change of each number, computed again. With
// TIERSIM_SENSITIVITY_ALL every case of every device, as in the command; else the named cases of
// three devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "reports/hardware/point_label.hpp"
#include "reports/hardware/sensitivity_text.hpp"
#include "sim/validate/sensitivity.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::sensitivity_table_test {
namespace {

using Texts = std::vector<std::string>;

std::string shipped_text(const char* name) {
  std::ostringstream text;
  text << std::ifstream(std::filesystem::path(TIERSIM_SOURCE_DIR) / "hwmodels" / name).rdbuf();
  return text.str();
}

// The cells before the reason, which hold no comma: device, number, value, verdict, case, level and
// both steps.
Texts cells_of(const std::string& line) {
  constexpr std::size_t kCells = 8;
  Texts cells;
  std::istringstream in(line);
  for (std::string cell; cells.size() < kCells && std::getline(in, cell, ',');)
    cells.push_back(cell);
  return cells;
}

// Rows of the shipped file without the device, by device.
std::map<std::string, std::vector<Texts>> shipped_rows() {
  std::istringstream in(shipped_text("sensitivity.csv"));
  std::map<std::string, std::vector<Texts>> rows;
  std::string line;
  std::getline(in, line);  // the names of the columns
  while (std::getline(in, line)) {
    const Texts cells = cells_of(line);
    rows[cells.front()].emplace_back(cells.begin() + 1, cells.end());
  }
  return rows;
}

// Those of numbers that were changed.
std::map<std::string, std::vector<Texts>> shipped_tables() {
  std::map<std::string, std::vector<Texts>> tables = shipped_rows();
  for (auto& [device, rows] : tables)
    std::erase_if(rows, [](const Texts& row) { return row[2] == "not changed"; });
  return tables;
}

SensitivityConfig shipped() {
  Diagnostics diagnostics;
  const Document document = load_document(
      std::filesystem::path(TIERSIM_SOURCE_DIR) / "reports/targets/sensitivity/h100_node.yaml",
      {.config_root = testing::configs()}, diagnostics);
  auto config = read<SensitivityConfig>(document, "sensitivity", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return config;
}

// "+3.1 % !" or "x2: -1.0 %" as the text before the number, the number, and the text behind it.
struct Printed {
  std::string before;
  double number = 0;
  std::string behind;

  explicit Printed(const std::string& text) {
    const std::size_t colon = text.find(": ");
    const std::size_t from = colon == std::string::npos ? 0 : colon + 2;
    const std::size_t end = text.find(" %");
    before = text.substr(0, from);
    if (end == std::string::npos) {
      behind = text.substr(from);
      return;
    }
    std::istringstream(text.substr(from, end - from)) >> number;
    behind = text.substr(end);
  }
};

// The same text, and numbers of percent that differ by their last digit at most.
void expect_same(const Texts& row, const Texts& shipped, const std::string& device) {
  ASSERT_EQ(row.size(), shipped.size()) << device << ' ' << shipped.front();
  constexpr std::size_t kFirstStep = 5;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i < kFirstStep) {
      EXPECT_EQ(row[i], shipped[i]) << device << ' ' << shipped.front();
      continue;
    }
    const Printed now(row[i]);
    const Printed then(shipped[i]);
    EXPECT_EQ(now.before + now.behind, then.before + then.behind)
        << device << ' ' << shipped.front();
    EXPECT_NEAR(now.number, then.number, 0.1001) << device << ' ' << shipped.front();
  }
}

#ifdef TIERSIM_SENSITIVITY_ALL

TEST(SensitivityDocument, IsWhatEveryCaseOfEveryDeviceSaysToday) {
  SensitivityConfig config = shipped();
  SensitivityStudy study(config);
  const std::map<std::string, std::vector<Texts>> tables = shipped_tables();
  ASSERT_EQ(tables.size(), config.devices.size());
  std::vector<DeviceSensitivity> devices;
  for (std::size_t d = 0; d < config.devices.size(); ++d) {
    const SensitiveDevice& device = config.devices[d];
    std::vector<SensitivityAnswer> base;
    for (std::size_t q = 0; q < study.questions(d).size(); ++q) base.push_back(study.answer(d, q));
    DeviceSensitivity& now = devices.emplace_back(
        DeviceSensitivity{.name = device.name,
                          .title = device.title,
                          .answers = std::ranges::count_if(
                              base, [](const auto& answer) { return answer.value.has_value(); })});
    for (const std::string& path : study.parameters(d))
      now.parameters.push_back(study.sensitivity_of(d, path, base));
    const std::vector<Row> rows = sensitivity_table(now).rows;
    const std::vector<Texts>& expected = tables.at(device.name);
    ASSERT_EQ(rows.size(), expected.size()) << device.name;
    for (std::size_t i = 0; i < rows.size(); ++i)
      expect_same(shown_texts(rows[i]), expected[i], device.name);
  }
  EXPECT_EQ(to_markdown_page(config.title, devices), shipped_text("SENSITIVITY.md"));
}

#else

std::string label_of(const SensitivityQuestion& question) {
  return question.curve == nullptr
             ? question.workload
             : case_id(question.curve->facts, question.curve->points[question.point]);
}

TEST(SensitivityDocument, TheNamedCasesOfThreeDevicesSaySoToday) {
  SensitivityConfig config = shipped();
  SensitivityStudy study(config);
  const std::map<std::string, std::vector<Texts>> tables = shipped_tables();
  for (std::size_t d = 0; d < config.devices.size(); ++d) {
    const std::string& name = config.devices[d].name;
    if (name != "h100-hbm3" && name != "pcie-gen5-x16" && name != "nvlink4-port") continue;
    const std::vector<SensitivityQuestion>& questions = study.questions(d);
    std::vector<SensitivityAnswer> base(questions.size());
    std::vector<bool> asked(questions.size());
    ASSERT_TRUE(tables.contains(name)) << name;
    for (const Texts& row : tables.at(name)) {
      ASSERT_EQ(row.size(), 7U);
      if (row[2] == "insensitive") continue;  // which takes all cases
      const auto named = std::ranges::find_if(questions, [&](const SensitivityQuestion& q) {
        return label_of(q) == row[3] && kFidelityNames[static_cast<std::size_t>(q.level)] == row[4];
      });
      ASSERT_NE(named, questions.end()) << row[3];
      const auto q = static_cast<std::size_t>(named - questions.begin());
      if (!asked[q]) base[q] = study.answer(d, q);
      asked[q] = true;
      const DeviceSensitivity now{
          .name = name, .title = "", .parameters = {study.sensitivity_of(d, row[0], base, {q})}};
      const Table table = sensitivity_table(now);
      ASSERT_EQ(table.rows.size(), 1U) << row[0];
      expect_same(shown_texts(table.rows.front()), row, name);
    }
  }
}

#endif

TEST(SensitivityDocument, HasEveryNumberOfEveryDevice) {
  SensitivityConfig config = shipped();
  SensitivityStudy study(config);
  const std::map<std::string, std::vector<Texts>> rows = shipped_rows();
  ASSERT_EQ(rows.size(), config.devices.size());
  for (std::size_t d = 0; d < config.devices.size(); ++d) {
    std::vector<std::string> shipped_paths;
    for (const Texts& row : rows.at(config.devices[d].name)) shipped_paths.push_back(row.front());
    std::ranges::sort(shipped_paths);
    std::vector<std::string> paths = study.parameters(d);
    std::ranges::sort(paths);
    EXPECT_EQ(shipped_paths, paths) << config.devices[d].name;
  }
}

}  // namespace
}  // namespace tiersim::sensitivity_table_test
