#pragma once
// A win map: the way to run a step that has the highest tokens/s, at every context and batch, in
// panels over two lists of machines or settings. Data in reports/targets:
//
//   maps:
//     - id: tpla.win_map
//       ways: [{label: TPLA, letter: T, scenario: scenarios/tpla/deepseek_v3_tpla.yaml}]
//       contexts: [1024, 2048]
//       batches: [1, 2]
//       columns: [{label: NVLink4, set: ["system.base=systems/h100_nvlink.yaml"]}]
//       rows: [{label: 989 TFLOP/s, set: []}]
#include <cstdint>
#include <string>
#include <vector>

#include "reports/papers/studies/study.hpp"

namespace tiersim {

struct MapWay {
  std::string label = {};
  std::string letter = {};    ///< in the cells of the figure
  std::string scenario = {};  ///< relative to the configs folder
  std::vector<std::string> set = {};
  std::string remark = {};  ///< shown beside the map: a caveat about this way
};
void describe(Fields& f, MapWay& c);

struct WinMap {
  std::string id = {};
  std::string title = {};
  std::vector<MapWay> ways = {};
  std::vector<std::int64_t> contexts = {};  ///< positions, rising
  std::vector<std::int64_t> batches = {};   ///< sequences of a replica, rising
  std::string column_title = {};
  std::vector<StudyVariant> columns = {};
  std::string row_title = {};
  std::vector<StudyVariant> rows = {};
  double tie = 0.01;         ///< relative lead below which two ways tie
  std::string without = {};  ///< label of the way that a second map leaves out
  std::vector<std::string> notes = {};
};
void describe(Fields& f, WinMap& c);

}  // namespace tiersim
