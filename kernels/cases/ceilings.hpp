// Upper limits of one card: copy, read, gather of rows, latency of a pointer, copies and loads over
// the link, and a large matrix product. The campaign takes its measured ceilings from these, by
// name:
//   ceiling.device_copy, ceiling.read_sum      memory [B/s]
//   ceiling.copy_engine.h2d, .d2h              link_read, link_write [B/s]
//   ceiling.gemm                               flops.bf16 [FLOP/s]
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

void add_ceilings_cases(CaseList& cases, Sizes sizes);

// The parts of the family, one for each file.
void add_ceilings_memory_cases(CaseList& cases, Sizes sizes);
void add_ceilings_link_cases(CaseList& cases, Sizes sizes);
void add_ceilings_gemm_cases(CaseList& cases, Sizes sizes);

}  // namespace tiersim::kernels
