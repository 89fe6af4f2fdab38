#include "reports/hardware/sensitivity_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/hardware/point_label.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

// No sign for values that print as 0.
std::string percent(double share) {
  const double tenths = std::round(1000 * share);
  return tenths == 0 ? "0.0 %" : fmt::format("{:+.1f} %", tenths / 10);
}

bool is_usual(double factor) {
  return std::abs(std::abs(factor - 1) - kSensitivityStep) < 0.02;
}

// "-3.1 % !", with the factor before it where the step is not 20 %.
std::string step_text(const SensitivityStep& step) {
  if (!step.refused.empty()) return "-";
  const std::string factor = is_usual(step.factor) ? "" : fmt::format("x{:.3g}: ", step.factor);
  if (!step.moved) return factor + "no answer";
  return factor + percent(*step.moved) + (step.fails ? " !" : "");
}

std::string bare(const std::string& text) {
  return printable(text);
}

// The reason why no case detects a number, or why it was not changed.
std::string reason_of(const ParameterSensitivity& row) {
  return bare(row.verdict == SensitivityVerdict::not_changed ? row.more.refused : row.why);
}

// The cells of a row: number, value, verdict, case, level and both steps.
Row cells_of(const ParameterSensitivity& row) {
  const bool moved = row.most() > 0;
  return {row.path,
          row.value,
          std::string(name(row.verdict)),
          moved ? case_id(row) : "none",
          moved ? std::string(name(row.level)) : "-",
          step_text(row.more),
          step_text(row.less)};
}

// The numbers that share a reason, in one line.
struct Because {
  std::string why;
  std::vector<std::string> paths;
  double most = 0;
};

std::vector<Because> reasons_of(const DeviceSensitivity& device, SensitivityVerdict verdict) {
  std::vector<Because> out;
  for (const ParameterSensitivity* row : strongest_first(device)) {
    if (row->verdict != verdict) continue;
    const std::string why = reason_of(*row);
    auto same = std::ranges::find(out, why, &Because::why);
    if (same == out.end()) same = out.insert(out.end(), {.why = why, .paths = {}});
    same->paths.push_back(row->path);
    same->most = std::max(same->most, row->most());
  }
  return out;
}

std::vector<std::string> notes_of(const DeviceSensitivity& device, std::string_view quote) {
  std::vector<std::string> notes;
  const auto names = [&](const Because& because) {
    return fmt::format("{0}{1}{0}", quote,
                       fmt::join(because.paths, fmt::format("{0}, {0}", quote)));
  };
  for (const Because& each : reasons_of(device, SensitivityVerdict::insensitive))
    notes.push_back(fmt::format("no case is sensitive to {} (at most {:.1f} %){}", names(each),
                                100 * each.most, each.why.empty() ? "" : ": " + each.why));
  for (const Because& each : reasons_of(device, SensitivityVerdict::not_changed))
    notes.push_back(fmt::format("not changed: {}: {}", names(each), each.why));
  return notes;
}

constexpr std::size_t kWidth = 118;

// Words in lines of kWidth; the first begins with `begin`, the others with as many spaces.
std::string wrapped(const std::string& begin, const std::string& text) {
  std::string out;
  std::string line = begin;
  bool fresh = true;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    if (!fresh && line.size() + 1 + (end - from) > kWidth) {
      out += line + '\n';
      line.assign(begin.size(), ' ');
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += text.substr(from, end - from);
    fresh = false;
    from = end + 1;
  }
  return out + line + '\n';
}

std::string markdown_row(const std::vector<std::string>& cells) {
  const std::string row = fmt::format("| {} |\n", fmt::join(cells, " | "));
  return row.size() <= kWidth ? row : fmt::format("|{}|\n", fmt::join(cells, "|"));
}

}  // namespace

std::string case_id(const ParameterSensitivity& row) {
  if (row.curve) return case_id(*row.curve, row.point);
  return row.workload.empty() ? "-" : row.workload;
}

std::vector<const ParameterSensitivity*> strongest_first(const DeviceSensitivity& device) {
  std::vector<const ParameterSensitivity*> rows;
  for (const ParameterSensitivity& row : device.parameters) rows.push_back(&row);
  std::ranges::stable_sort(rows, [](const ParameterSensitivity* a, const ParameterSensitivity* b) {
    if (a->verdict != b->verdict) return a->verdict < b->verdict;
    return a->most() > b->most();
  });
  return rows;
}

std::int64_t count_of(const std::vector<DeviceSensitivity>& devices, SensitivityVerdict verdict) {
  std::int64_t count = 0;
  for (const DeviceSensitivity& device : devices)
    count += std::ranges::count(device.parameters, verdict, &ParameterSensitivity::verdict);
  return count;
}

Table sensitivity_table(const DeviceSensitivity& device) {
  Table table{.title = bare(device.title),
              .columns = {{"number", Align::left},
                          {"value", Align::right},
                          {"", Align::left},
                          {"case", Align::left},
                          {"level", Align::left},
                          {"+20 %", Align::right},
                          {"-20 %", Align::right}}};
  for (const ParameterSensitivity* row : strongest_first(device))
    if (row->verdict != SensitivityVerdict::not_changed) table.add(cells_of(*row));
  return table;
}

std::string to_text(const std::vector<DeviceSensitivity>& devices) {
  std::string out;
  for (const DeviceSensitivity& device : devices) {
    Table table = sensitivity_table(device);
    table.notes = notes_of(device, "");
    out += to_text(table) + '\n';
  }
  return out +
         fmt::format(
             "{} numbers fail a case, {} change a result by 1 % or more, {} change none by 1 %, {} "
             "were not changed\n",
             count_of(devices, SensitivityVerdict::fails),
             count_of(devices, SensitivityVerdict::moves),
             count_of(devices, SensitivityVerdict::insensitive),
             count_of(devices, SensitivityVerdict::not_changed));
}

Table sensitivity_data(const std::vector<DeviceSensitivity>& devices) {
  Table table{.title = "",
              .columns = {{"device", Align::left},
                          {"number", Align::left},
                          {"value", Align::left},
                          {"verdict", Align::left},
                          {"case", Align::left},
                          {"level", Align::left},
                          {"+20 %", Align::left},
                          {"-20 %", Align::left},
                          {"reason", Align::left}}};
  for (const DeviceSensitivity& device : devices)
    for (const ParameterSensitivity* row : strongest_first(device)) {
      Row cells = cells_of(*row);
      cells.insert(cells.begin(), Cell(device.name));
      cells.emplace_back(reason_of(*row));
      table.add(std::move(cells));
    }
  return table;
}

std::string to_markdown_page(const std::string& title,
                             const std::vector<DeviceSensitivity>& devices) {
  std::string out =
      R"(# Sensitivity of the reference cases to the numbers of each device

`./tiersim validate sensitivity -o out/sensitivity` writes this page as the first part of
`out/sensitivity/sensitivity.md`, and the numbers of all devices as `sensitivity.csv`. The second
part of `sensitivity.md` has a table of the numbers of each device.

)";
  out += wrapped("", bare(title)) + '\n';
  out +=
      R"(The command raises and lowers each number by 20 %, one number at a time, and runs every
case of the device again. A count changes by 1 at least, a share rises to 1 at most, and a
size that must be a power of two is doubled and halved. A case is a point of a reference
curve of `validate hardware`, or a workload of `validate levels`, which has no band.
reports/targets/sensitivity lists the cases.

The columns of the table count the numbers of a device by their verdict:

- `fails`: a case leaves its band, so that `validate hardware` would exit with status 5. A `!`
  follows such a change in `sensitivity.csv`. A case near the edge of its band fails after a small
  change.
- `moves`: the result of a case changes by 1 % or more, and no case fails.
- `insensitive`: no result changes by 1 %.
- `not changed`: no other value of the number is allowed, or it is 0, which no factor changes.

The last column counts the results of a device: of each case at each level of fidelity.
`sensitivity.csv` names one case for each number: the failing case that changes most or, if none
fails, the case that changes most.

)";
  out +=
      "| device | numbers | fails | moves | insensitive | not changed | results |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n";
  for (const DeviceSensitivity& device : devices) {
    const auto count = [&](SensitivityVerdict verdict) { return count_of({device}, verdict); };
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", bare(device.title),
                       device.parameters.size(), count(SensitivityVerdict::fails),
                       count(SensitivityVerdict::moves), count(SensitivityVerdict::insensitive),
                       count(SensitivityVerdict::not_changed), device.answers);
  }
  return out;
}

std::string to_markdown(const std::string& title, const std::vector<DeviceSensitivity>& devices) {
  std::string out = to_markdown_page(title, devices);
  for (const DeviceSensitivity& device : devices) {
    const Table table = sensitivity_table(device);
    out += fmt::format("\n### {}: `{}`\n\n", table.title, device.name);
    out +=
        "| number | value | | case | level | +20 % | -20 % |\n|---|---:|---|---|---|---:|---:|\n";
    for (const Row& row : table.rows) out += markdown_row(shown_texts(row));
    const std::vector<std::string> notes = notes_of(device, "`");
    if (!notes.empty()) out += '\n';
    for (const std::string& note : notes) out += wrapped("- ", note);
  }
  return out;
}

}  // namespace tiersim
