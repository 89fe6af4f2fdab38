#pragma once
// A fitted workload (workloads/sessions/trace_fit.hpp) as a serving file, and its error.
#include <string>

#include "workloads/sessions/trace_fit.hpp"

namespace tiersim {

/// A serving file with the workload, whose first lines are a comment with the error of the fit.
/// `trace`: the name of the trace, for the comment.
std::string fitted_yaml(const TraceFit& fit, const TraceFitOptions& options,
                        const std::string& trace);
/// The error alone: {requests, sessions, distances: [{quantity, ks, chance, values}], held_out:
/// [...], hit_rates: [{blocks, trace, made}], hit_rate_difference, hit_rate_chance}.
std::string fit_json(const TraceFit& fit);

}  // namespace tiersim
