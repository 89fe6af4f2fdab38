// Sequences of kernels that one card can run. They are measured as a whole, to check the sums of
// the simulator:
//   F1  MAPLE: screen, gather from pinned host memory, attend, layer after layer; two micro-batches
//       overlapped on two streams; the gather alone, for the percentiles of its latency
//   F2  TPLA: the shards of one layer one after another, on two streams, and joined
//       through host memory (PCIe, never NVLink)
//   F3  T5 with early exit: one graph for each exit depth, batch and measure of confidence
//   F4  128 decode steps while the cache grows
// One card cannot show NVLink, CXL, stragglers or accuracy, so no number here stands for them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/case.hpp"

namespace tiersim::kernels::bench {

// A launch of a part. It follows the previous step of its stream and the steps of `after`.
struct Step {
  std::size_t part = 0;
  int stream = 0;          // 0 or 1
  std::vector<int> after;  // numbers of earlier steps
};

struct Part {
  CaseEntry entry;
  std::string timed_as;  // name of the case whose median is the part's time; empty: not timed alone
};

struct Sequence {
  std::string experiment;  // F1..F4
  std::string name;        // [a-z0-9_.-]
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  std::vector<std::string> labels;  // conditions that a reader must know
  std::vector<Part> parts;
  std::vector<Step> steps;
  std::string missing;  // the case that the sequence lacks, so that it cannot run; empty: none
};

// Looks up the parts among the cases of the families.
std::vector<Sequence> compositions(const CaseList& cases, Sizes sizes);

void add_screened_layers(std::vector<Sequence>& all, const CaseList& cases, Sizes sizes);  // F1
void add_shards(std::vector<Sequence>& all, const CaseList& cases, Sizes sizes);           // F2
void add_exits(std::vector<Sequence>& all, const CaseList& cases, Sizes sizes);            // F3
void add_growing_decode(std::vector<Sequence>& all, Sizes sizes);                          // F4

// Makes a sequence from parts that are looked up by tokens of their names.
class SequenceMaker {
 public:
  SequenceMaker(std::string experiment, std::string name, const CaseList& cases, Sizes sizes);
  // Returns the number of the first case whose name has all of `tokens` and, at timed sizes,
  // `shape`. Marks the sequence as incomplete where there is none.
  std::size_t part(const std::vector<std::string>& tokens, const std::string& shape);
  std::size_t part(Part made);
  // A second instance of a part for another stream, with its own inputs and scratch.
  std::size_t again(std::size_t part);
  // Returns the number of the step.
  int step(std::size_t part, int stream = 0, std::vector<int> after = {});
  SequenceMaker& parameter(const std::string& name, std::int64_t value);
  SequenceMaker& label(const std::string& text);
  void add_to(std::vector<Sequence>& all) { all.push_back(std::move(sequence_)); }

 private:
  Sequence sequence_;
  const CaseList& cases_;
  Sizes sizes_;
};

}  // namespace tiersim::kernels::bench
