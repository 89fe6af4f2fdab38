#pragma once
// Parameters of the devices and the checks that fail when a parameter changes: tables for a
// terminal, a document, JSON.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "sim/record/sensitivity_record.hpp"

namespace tiersim {

/// "curve.64B" or a workload; "-" for a parameter that was not tested.
std::string case_id(const ParameterSensitivity& row);

/// Parameters that fail a check first; within each verdict the largest effect first.
std::vector<const ParameterSensitivity*> strongest_first(const DeviceSensitivity& device);
std::int64_t count_of(const std::vector<DeviceSensitivity>& devices, SensitivityVerdict verdict);

/// The table of one device. Notes give the reasons for parameters that no check catches and for
/// those that were not tested.
Table sensitivity_table(const DeviceSensitivity& device);

/// A row for each number of each device, as in hwmodels/sensitivity.csv.
Table sensitivity_data(const std::vector<DeviceSensitivity>& devices);

std::string to_text(const std::vector<DeviceSensitivity>& devices);
/// The page hwmodels/SENSITIVITY.md: the method, and a row for each device.
std::string to_markdown_page(const std::string& title,
                             const std::vector<DeviceSensitivity>& devices);
/// The page, then a table for each device.
std::string to_markdown(const std::string& title, const std::vector<DeviceSensitivity>& devices);
/// {cases: [{id, level, case, value, more, less, status, failing, why}], summary}.
std::string to_json(const std::vector<DeviceSensitivity>& devices);

}  // namespace tiersim
