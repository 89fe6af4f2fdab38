// Decode attention over the whole cache: every method's baseline.
//   dense.dense_decode.fma.ring<n>.*     one query head per key head
//   dense.gqa_decode.mma_sync.ring2.*    4, 8 or 16
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

void add_dense_cases(CaseList& cases, Sizes sizes);

}  // namespace tiersim::kernels
