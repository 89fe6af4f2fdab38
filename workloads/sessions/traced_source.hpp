#pragma once
// The sessions of a trace as a source: a turn is sent when the one before it has ended, after the
// recorded pause. The file is read as it is replayed; memory grows with the sessions under way, and
// by about 40 bytes with each session of the file, whose turns are counted beforehand.
//
// Prompts of a session share what they can: a prompt that is longer than the one before with its
// answer begins with both, and any other one begins anew. Where lines name the blocks of their
// prompts, the names alone say what is shared.
#include <memory>

#include "workloads/serving/request.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/serving/trace_replay.hpp"

namespace tiersim {

/// `turns` are those of the file of `config.trace`, which was in this state. `starts` says when its
/// sessions begin where the file does not, and is null otherwise. next() and after_completion()
/// throw SourceFailure if the file changes during the run.
std::unique_ptr<RequestSource> make_traced_sessions(const WorkloadConfig& config,
                                                    const TracedTurns& turns,
                                                    const TraceFileState& state,
                                                    std::unique_ptr<RequestSource> starts);

}  // namespace tiersim
