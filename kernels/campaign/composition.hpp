// Sequences of kernels that one card can run, so that the simulator's sums are held against
// something:
//   F1  MAPLE: screen, gather from pinned host memory, attend, layer after layer; two micro-batches
//       overlapped on two streams; the gather alone, for the percentiles of its latency
//   F2  TPLA: the shards of one layer one after another, on two streams, and joined
//       through host memory (PCIe, never NVLink)
//   F3  T5 with early exit: one graph for each exit depth, batch and measure of confidence
//   F4  128 decode steps while the cache grows
// What one card cannot show, and no number here means: NVLink, CXL, stragglers, accuracy.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/case.hpp"

namespace tiersim::kernels::bench {

// A launch of a part; on a stream it follows the step before it there, and `after` besides.
struct Step {
  std::size_t part = 0;
  int stream = 0;          // 0 or 1
  std::vector<int> after;  // numbers of earlier steps
};

struct Part {
  CaseEntry entry;
  std::string timed_as;  // name of the case whose median stands for it; empty: nobody timed it
};

struct Sequence {
  std::string experiment;  // F1..F4
  std::string name;        // [a-z0-9_.-]
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  std::vector<std::string> labels;  // what it must not be taken for
  std::vector<Part> parts;
  std::vector<Step> steps;
  std::string missing;  // the case that it lacks: it cannot run
};

// Looks the parts up among the cases of the families.
std::vector<Sequence> compositions(const CaseList& cases, Sizes sizes);

// By experiment.
void add_screened_layers(std::vector<Sequence>& all, const CaseList& cases, Sizes sizes);  // F1
void add_shards(std::vector<Sequence>& all, const CaseList& cases, Sizes sizes);           // F2
void add_exits(std::vector<Sequence>& all, const CaseList& cases, Sizes sizes);            // F3
void add_growing_decode(std::vector<Sequence>& all, Sizes sizes);                          // F4

// Makes a sequence out of parts that are looked up by what their names hold.
class SequenceMaker {
 public:
  SequenceMaker(std::string experiment, std::string name, const CaseList& cases, Sizes sizes);
  // The first case whose name holds all of `tokens` and, at timed sizes, `shape`; its number. Where
  // there is none the sequence is marked as missing it.
  std::size_t part(const std::vector<std::string>& tokens, const std::string& shape);
  std::size_t part(Part made);
  // A second instance of a part, with inputs and scratch of its own: for another stream.
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
