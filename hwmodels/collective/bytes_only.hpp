#pragma once
// Model card: bytes_only (collectives without a start-up time; fidelity: analytic)
//   Models    the bytes that a port must carry at least, by the best exchange of pieces between n
//             ranks.
//   Equation  all_reduce: 2 (n - 1) / n of the size each way; reduce_scatter, all_gather,
//             all_to_all: (n - 1) / n; send: the whole size, plus the latency of the first byte.
//   Ignores   start-up, synchronisation and protocols, which make small collectives slow. The
//             result is a lower bound, as hand calculations use it.
//   Valid     where a lower bound is wanted.
//   Source    Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009: the bytes are minimal.
//   Checked   tests/unit/hwmodels/collective_test.cpp
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct BytesOnlyConfig {};

void describe(Fields& f, BytesOnlyConfig& c);
std::unique_ptr<Collective> make_device(const BytesOnlyConfig& config);
void register_bytes_only(Registry<DeviceKind<Collective>>& registry);

}  // namespace tiersim
