// Early exit of a decoder (CALM): the head with its softmax response, the other confidence measures
// with the vote of the batch, the caches of skipped layers, and a whole T5 decoder layer.
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

void add_early_exit_cases(CaseList& cases, Sizes sizes);

// The parts of the family, one for each file.
void add_early_exit_head_cases(CaseList& cases, Sizes sizes);
void add_early_exit_vote_cases(CaseList& cases, Sizes sizes);
void add_early_exit_depth_cases(CaseList& cases, Sizes sizes);
void add_early_exit_fill_cases(CaseList& cases, Sizes sizes);
void add_early_exit_layer_cases(CaseList& cases, Sizes sizes);

}  // namespace tiersim::kernels
