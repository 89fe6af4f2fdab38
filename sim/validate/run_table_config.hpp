#pragma once
// Description of a table of measured runs of servers that somebody else wrote (`schema:
// tiersim.run_table/v1`, configs/run_tables): the serving file and the settings that simulate a
// row, and the columns of its results. A table of a new source needs such a file and no code.
//
//  config: serving/validation/rows.yaml
//  columns: [id, backend, isl, osl, concurrency, tp, ttft_ms, tpot_ms]
//  id: "{id}"
//  group: "{backend}"
//  values: [{name: gpus, is: "max(1, tp)"}]
//  cases: [{column: backend, set: {vllm: [server.base=servers/vllm_v1.yaml]}}]
//  set: ["system.gpus.count={gpus}", "workload.input.tokens={isl}"]
//  ttft: "ttft_ms / 1000"
//
// Formulas (sim/expression) use the columns and the values above them; a cell is a number or text.
// Text in braces is a formula, whose value stands in its place; {{ and }} are braces themselves. A
// column that `empty` names may be absent, and one that `also` names may have that other name.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

/// A name for a formula's value.
struct RunValue {
  std::string name;
  std::string is;
};

/// Settings by the text of a column or value; "*" has those of any other text. Without it a row
/// with another text is left out by name.
struct RunCases {
  std::string column;
  std::map<std::string, std::vector<std::string>> set;

  /// Nothing for a text without settings.
  const std::vector<std::string>* settings(const std::string& text) const {
    auto found = set.find(text);
    if (found == set.end()) found = set.find("*");
    return found == set.end() ? nullptr : &found->second;
  }
};

/// Rows for which `where` is true are not simulated.
struct RunSkip {
  std::string where;
  std::string why;
};

struct RunTableConfig {
  std::string description;
  std::string source;  ///< who measured, and where it stands; may be empty
  std::string config;  ///< serving file, relative to the configs folder
  std::vector<std::string> columns;
  std::map<std::string, std::string> also;   ///< by column: another name it may have
  std::map<std::string, std::string> empty;  ///< by column: what an empty cell stands for
  std::vector<RunValue> values;
  std::string id;                ///< text with formulas: a row's name
  std::string group;             ///< the same: rows of one text are reported together
  std::string setup;             ///< the same: model, element types, GPUs
  std::string once;              ///< the same: rows of one text are one run; may be empty
  std::vector<RunValue> labels;  ///< errors are also summed by these: engine, card, load
  std::vector<RunSkip> skip;
  std::string apart;  ///< formula: true for rows that no summary counts; may be empty
  std::vector<RunCases> cases;
  std::vector<std::string> set;  ///< settings as --set takes them, with formulas, after the cases
  std::string users;             ///< formula: users of a closed loop
  std::int64_t requests_per_user = 10;
  std::string ttft;        ///< formulas of the results; '' where a row has none [s]
  std::string tpot;        ///< [s]
  std::string throughput;  ///< output tokens/s; may be empty
  std::string energy;      ///< J for an output token, of all GPUs; may be empty
  std::string power;       ///< mean W of a GPU; may be empty
  std::string assumed;     ///< what the table does not say
};

void describe(Fields& f, RunValue& c);
void describe(Fields& f, RunCases& c);
void describe(Fields& f, RunSkip& c);
void describe(Fields& f, RunTableConfig& c);

/// The pieces of a text with formulas in braces: plain ones, with single braces, and formulas
/// without theirs.
struct TextPiece {
  std::string text;
  bool formula = false;
};
std::vector<TextPiece> text_pieces(const std::string& text);

}  // namespace tiersim
