#pragma once
// The table that NCCL's tests print (all_reduce_perf and its kin), here without its right half:
//
//  # nThread 1 nGpus 2 ...
//  #  Rank  0 Group  0 Pid 1 on h device 0 [0x00] NVIDIA H100 80GB HBM3
//  #     size    count   type  redop  root    time  algbw  busbw #wrong  time ...
//  #      (B) (elements)                      (us) (GB/s) (GB/s)         (us) ...
//  1048576   262144  float    sum    -1   24.50  42.80  42.80      0  24.40 ...
//
// Each row is two cases, out-of-place and in-place. The columns are those of the header line, so
// tables without redop or root are read too. A row that contradicts itself is refused with its
// numbers, within the digits printed:
// - size = count * bytes of the type, times the ranks where the count is a rank's share
//  (all_gather, reduce_scatter, alltoall, gather, scatter);
// - algbw = size / time;
// - busbw = algbw * f, f = 2 (n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter,
//  alltoall, gather and scatter, 1 for broadcast, reduce and sendrecv. Early versions, whose two
//  rates of all_gather and its kin are both (n-1)/n * size / time, are read as well.
//
// The test is named by a line ("all_reduce_perf -b 8 ...", "Collective test starting: ...") or by
// ReadOptions::collective; the ranks are those listed, or ReadOptions::ranks, or nThread * nGpus.
// Work: the bytes that any algorithm must send and receive at a GPU, (n-1)/n * size (size where f
// is 1), in link_write_bytes and link_read_bytes: a reduction in the switch needs no more, so a bus
// bandwidth above the link's is possible.
// Source: github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md and src/common.cu.
#include <string>
#include <string_view>

#include "hwmodels/calibrate/read/read_timings.hpp"

namespace tiersim {

bool is_nccl_header(std::string_view line);

TimingSet read_nccl_tests(const std::string& file, std::string_view text,
                          const ReadOptions& options, Diagnostics& diagnostics);

}  // namespace tiersim
