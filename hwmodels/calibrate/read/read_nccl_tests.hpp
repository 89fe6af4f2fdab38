#pragma once
// Reader of the table that NCCL's tests print (all_reduce_perf and the others), here without its
// right half:
//
//  # nThread 1 nGpus 2 ...
//  #  Rank  0 Group  0 Pid 1 on h device 0 [0x00] NVIDIA H100 80GB HBM3
//  #     size    count   type  redop  root    time  algbw  busbw #wrong  time ...
//  #      (B) (elements)                      (us) (GB/s) (GB/s)         (us) ...
//  1048576   262144  float    sum    -1   24.50  42.80  42.80      0  24.40 ...
//
// Each row is two cases, out-of-place and in-place. The header line names the columns, so tables
// without redop or root are read too. A row must satisfy these equations within the printed digits,
// or it is refused with its numbers:
// - size = count * bytes of the type, times the ranks where the count is a rank's share
//  (all_gather, reduce_scatter, alltoall, gather, scatter);
// - algbw = size / time;
// - busbw = algbw * f, f = 2 (n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter,
//  alltoall, gather and scatter, 1 for broadcast, reduce and sendrecv. Early versions, where both
//  rates of all_gather and the like are (n-1)/n * size / time, are read as well.
//
// The name of the test is from a line ("all_reduce_perf -b 8 ...", "Collective test starting: ...")
// or from ReadOptions::collective. The ranks are those listed, or ReadOptions::ranks, or nThread *
// nGpus. The work is the bytes that any algorithm must send and receive at a GPU, (n-1)/n * size
// (size where f is 1), in link_write_bytes and link_read_bytes. A reduction in the switch needs no
// more, so a bus bandwidth above the link's is possible.
// Source: github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md and src/common.cu.
#include <string>
#include <string_view>

#include "hwmodels/calibrate/read/read_timings.hpp"

namespace tiersim {

bool is_nccl_header(std::string_view line);

TimingSet read_nccl_tests(const std::string& file, std::string_view text,
                          const ReadOptions& options, Diagnostics& diagnostics);

}  // namespace tiersim
