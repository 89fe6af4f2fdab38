#pragma once
// Description of a table of timings that somebody else wrote (`schema: tiersim.timing_table/v1`,
// configs/calibration/tables): which columns it has, and the bytes and FLOPs of a row as formulas
// (sim/expression). A table of a new source needs such a file and no code.
//
//  time: {column: latency, unit: ms}
//  labels: [gemm_dtype]
//  sizes: [m, n, k]
//  values: [{name: element, is: "if(gemm_dtype == 'bfloat16', 2, 1)"}]
//  memory_bytes: "element * (m * k + n * k) + 2 * m * n"
//  flops: "2 * m * n * k"
//  form: {name: product, sizes: {m: m, n: n, k: k, weight_bytes: element, ...}}
//
// A profile names kernels and no sizes, so that the description says which name is which case
// (named_rows.hpp):
//
//  format: nsys
//  kernels: [{matches: "m=([0-9]+)", is: {m: $1, n: 4096, k: 4096, gemm_dtype: bfloat16}}]
//
// A table of collectives has `operation` and `port_bytes` instead of memory_bytes and flops.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// Who wrote the file. csv: a header and a row a timing. nsys: a report of `nsys stats --format
/// csv`, with talk before its header. nvbench: `--csv` of a benchmark, which repeats names of
/// columns.
enum class TableFormat : std::uint8_t { csv, nsys, nvbench };
inline constexpr std::array<std::string_view, 3> kTableFormatNames{"csv", "nsys", "nvbench"};

enum class TimeUnit : std::uint8_t { ns, us, ms, s };
inline constexpr std::array<std::string_view, 4> kTimeUnitNames{"ns", "us", "ms", "s"};

struct TimeColumn {
  std::string column;
  TimeUnit unit = TimeUnit::us;
};

/// Operand type of a row: the text of `column`, or what `names` calls it here.
struct DtypeColumn {
  std::string column;
  std::map<std::string, std::string> names;
};

/// A size that the file writes as text, with the number of each text.
struct TextSize {
  std::string column;
  std::map<std::string, double> names;
};

/// A shape none of whose rows of at least `bytes` reaches `share` of the memory's rate is refused.
struct UntunedRule {
  double bytes = 0;
  double share = 0;
};

/// Rows of a profile by the name of their kernel, and the labels and sizes that such a row has.
struct NamedRows {
  std::string name;  ///< the whole name; empty: `matches`
  std::string
      matches;        ///< regular expression (ECMAScript) whose longest match is found in the name
  std::string where;  ///< formula of the file's columns, such as "GrdX == 64"; empty: all
  std::map<std::string, std::string> is;  ///< "$1" stands for the first group of `matches`
};

/// A number of a row that later formulas use.
struct TableValue {
  std::string name;
  std::string is;
};

/// Rows for which `where` is true are refused.
struct TableRefusal {
  std::string rule;
  std::string where;
  std::string why;
};

/// The form that rows are fitted with (hwmodels/forms), and its sizes as formulas of a row.
struct FormColumns {
  std::string name;
  std::optional<KernelFamily> family;  ///< of a step's operations; none: collectives
  std::map<std::string, std::string> sizes;
};

/// Errors on unseen rows that are aimed at, for some operand types.
struct TableGoal {
  std::vector<std::string> types;
  double median = 0;
  double p90 = 0;
};

struct TimingTableConfig {
  std::string description;
  TableFormat format = TableFormat::csv;
  std::string source;              ///< who timed, and where it stands; may be empty
  std::vector<std::string> files;  ///< beginnings of names of files; empty: its own name
  TimeColumn time;
  std::string names;                ///< column with the name of a kernel, for `kernels`
  std::vector<NamedRows> kernels;   ///< the first that holds counts; rows of none are left out
  std::vector<std::string> labels;  ///< columns of text; rows that differ in one are other kernels
  std::vector<std::string> sizes;   ///< columns of numbers, which tell the cases of a kernel apart
  std::map<std::string, double> absent;  ///< sizes that a file may lack, and what they then are
  std::vector<TextSize> texts;           ///< sizes that the file writes as text
  std::vector<std::string> unused;       ///< columns that are neither; a file may lack them
  std::vector<std::string> split;  ///< formulas; rows that differ in one are other kernels too
  DtypeColumn dtype;
  std::string rows;  ///< formula; rows for which it is false are of another description; empty: all
  std::vector<TableValue> values;
  std::string memory_bytes;
  std::string flops;
  std::string working_set;           ///< bytes that repetitions touch; empty: memory_bytes
  std::string operation;             ///< formula of the collective; empty: kernels of one GPU
  std::string port_bytes;            ///< least bytes through a GPU's port, one way
  std::vector<std::string> samples;  ///< sizes that one shape is timed at, such as the batch
  std::vector<std::string> shapes;   ///< sizes that make a shape; empty: all but the samples
  std::vector<std::string> groups;   ///< sizes of which each value is also held out alone
  std::vector<std::string> splits;   ///< sizes that divide the work among GPUs
  std::vector<TableRefusal> refuse;
  std::optional<UntunedRule> untuned;
  std::int64_t launches = 1;  ///< kernels of a row, at most
  std::optional<FormColumns> form;
  std::vector<TableGoal> goals;
};

void describe(Fields& f, TimeColumn& c);
void describe(Fields& f, DtypeColumn& c);
void describe(Fields& f, TextSize& c);
void describe(Fields& f, UntunedRule& c);
void describe(Fields& f, NamedRows& c);
void describe(Fields& f, TableValue& c);
void describe(Fields& f, TableRefusal& c);
void describe(Fields& f, FormColumns& c);
void describe(Fields& f, TableGoal& c);
void describe(Fields& f, TimingTableConfig& c);

}  // namespace tiersim
