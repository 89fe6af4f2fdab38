#pragma once
// Which case catches a change of each number of a device: tables for a terminal, a document, JSON.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "sim/record/sensitivity_record.hpp"

namespace tiersim {

/// "curve.64B" or a workload; "-" where nothing was asked.
std::string case_id(const ParameterSensitivity& row);

/// Caught first, the strongest first, in each verdict.
std::vector<const ParameterSensitivity*> strongest_first(const DeviceSensitivity& device);
std::int64_t count_of(const std::vector<DeviceSensitivity>& devices, SensitivityVerdict verdict);

/// One for each device. Where nothing catches a number and where none was tried, notes say why.
Table sensitivity_table(const DeviceSensitivity& device);

std::string to_text(const std::vector<DeviceSensitivity>& devices);
/// A document that says which command wrote it.
std::string to_markdown(const std::string& title, const std::vector<DeviceSensitivity>& devices);
/// {cases: [{id, level, case, value, more, less, status, failing, why}], summary}.
std::string to_json(const std::vector<DeviceSensitivity>& devices);

}  // namespace tiersim
