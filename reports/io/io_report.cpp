#include "reports/io/io_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/footprint/point_object.hpp"
#include "reports/footprint/shares_text.hpp"
#include "reports/io/io_rows.hpp"
#include "reports/summary/summary_parts.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

void append(std::vector<Column>& columns, std::vector<Column> more) {
  columns.insert(columns.end(), more.begin(), more.end());
}

bool says_io(const RunRecord& record) {
  return !device_bytes(record).empty();
}

bool any_server(const PointTable& points) {
  return std::ranges::any_of(points.points, [](const ReportPoint& point) {
    return point.record && point.record->serving;
  });
}

Cell bytes_cell(std::int64_t bytes) {
  return {bytes, bytes_text(bytes)};
}
Cell busy_cell(double share) {
  return {share, share_text(share)};
}

Table by_device(const PointTable& points, const std::vector<IoRow>& rows,
                const std::optional<Baseline>& baseline) {
  const PointLabels labels(points);
  Table table{.title = "Moved by one GPU, by device", .columns = labels.columns()};
  append(table.columns, {{"device", Align::left},
                         bytes_column("read"),
                         bytes_column("written"),
                         bytes_column("moved"),
                         bytes_column("wire"),
                         {"moved / payload"},
                         {"wire / payload"},
                         bytes_column("per request"),
                         bytes_column("per token"),
                         {"busiest channel", Align::left},
                         {"busy"}});
  if (baseline) table.columns.push_back({"of baseline"});
  for (const IoRow& row : rows) {
    const DeviceBytes& device = row.device;
    Row line = labels.row(row.point);
    line.insert(
        line.end(),
        {printable(device.device), bytes_cell(device.payload.read),
         bytes_cell(device.payload.write), bytes_cell(device.moved.read + device.moved.write),
         bytes_cell(device.wire), times_cell(row.moved_ratio()), times_cell(row.wire_ratio()),
         mean_bytes_cell(row.per_request()), mean_bytes_cell(row.per_token()),
         device.busiest.empty() ? "-" : printable(device.busiest), busy_cell(device.busy)});
    if (baseline) line.push_back(times_cell(row.relative()));
    table.add(std::move(line));
  }
  table.notes = {
      "read, written: payload, what was asked for; moved: in the device's granules; wire: of its "
      "channels, with headers and lost time",
      "per request and token: payload of all GPUs over the sequences of the batch, and over the "
      "new "
      "tokens of the step; busy: share of the step that the channel works, for all GPUs on it"};
  if (any_server(points))
    table.notes.emplace_back("of a server: of the whole run, over its requests and output tokens");
  if (baseline) table.notes.push_back("of baseline: payload over that of " + baseline->name);
  for (std::string& note : notes_on_missing(points, says_io, "traffic"))
    table.notes.push_back(std::move(note));
  return table;
}

std::vector<std::string> classes_of(const std::vector<IoRow>& rows) {
  std::vector<std::string> names;
  for (const IoRow& row : rows)
    for (const BytesByClass* by_class : {&row.device.read, &row.device.write})
      for (const auto& [name, bytes] : *by_class) names.push_back(name);
  return in_class_order(std::move(names));
}

std::int64_t bytes_of(const BytesByClass& by_class, const std::string& name) {
  const auto it = by_class.find(name);
  return it == by_class.end() ? 0 : it->second;
}

std::string of_base(std::int64_t bytes, const std::optional<DeviceBytes>& base,
                    BytesByClass DeviceBytes::*way, const std::string& name) {
  if (!base || bytes == 0) return "";
  const std::int64_t before = bytes_of((*base).*way, name);
  return before == 0 ? " (new)"
                     : fmt::format(" ({})", times_text(ratio_of(static_cast<double>(bytes),
                                                                static_cast<double>(before))));
}

// A column for each class. Devices with equal bytes, such as the hops of one path, share a row.
Table by_class(const PointTable& points, const std::vector<IoRow>& rows) {
  const PointLabels labels(points);
  Table table{.title = "Payload by tensor class, of one GPU",
              .columns = labels.columns(),
              .readers = Readers::people};
  append(table.columns, {{"device", Align::left}, {"", Align::left}});
  const std::vector<std::string> classes = classes_of(rows);
  for (const std::string& name : classes) table.columns.push_back({printable(name)});
  const auto add = [&](const IoRow& row, const std::string& devices, const char* what,
                       BytesByClass DeviceBytes::*way) {
    if ((row.device.*way).empty()) return;
    std::vector<std::string> line = labels.cells(row.point);
    line.insert(line.end(), {devices, what});
    for (const std::string& name : classes) {
      const std::int64_t bytes = bytes_of(row.device.*way, name);
      line.push_back(bytes_text(bytes) + of_base(bytes, row.base, way, name));
    }
    table.add(std::move(line));
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto same = [&](const IoRow& other) {
      return other.point == rows[i].point && other.device.read == rows[i].device.read &&
             other.device.write == rows[i].device.write;
    };
    std::size_t first = i;  // first row of this point
    while (first > 0 && rows[first - 1].point == rows[i].point) --first;
    const auto begin = rows.begin();
    if (std::any_of(begin + static_cast<std::ptrdiff_t>(first),
                    begin + static_cast<std::ptrdiff_t>(i), same))
      continue;
    std::vector<std::string> devices;
    for (std::size_t j = i; j < rows.size() && rows[j].point == rows[i].point; ++j)
      if (same(rows[j])) devices.push_back(printable(rows[j].device.device));
    add(rows[i], join(devices), "read", &DeviceBytes::read);
    add(rows[i], join(devices), "written", &DeviceBytes::write);
  }
  return table;
}

// Every byte, with a row for each class.
Table class_rows(const PointTable& points, const std::vector<IoRow>& rows) {
  const PointLabels labels(points);
  Table table{.title = "Payload by tensor class, of one GPU",
              .columns = labels.columns(),
              .readers = Readers::csv};
  append(
      table.columns,
      {{"device", Align::left}, {"direction", Align::left}, {"class", Align::left}, {"bytes [B]"}});
  for (const IoRow& row : rows)
    for (const auto& [direction, by_class] :
         {std::pair{"read", &row.device.read}, std::pair{"write", &row.device.write}})
      for (const auto& [name, bytes] : *by_class) {
        Row line = labels.row(row.point);
        line.insert(line.end(), {row.device.device, direction, name, bytes});
        table.add(std::move(line));
      }
  return table;
}

Table by_channel(const PointTable& points) {
  const PointLabels labels(points);
  Table table{.title = "Channels: bytes of one instance, from all GPUs on it",
              .columns = labels.columns()};
  append(table.columns, {{"channel", Align::left}, bytes_column("bytes"), {"busy"}});
  for (std::size_t p = 0; p < points.points.size(); ++p) {
    if (!points.points[p].record) continue;
    const RunRecord& record = *points.points[p].record;
    for (const auto& [channel, bytes] : record.channel_bytes) {
      if (bytes == 0) continue;
      const auto busy = record.channel_utilisation.find(channel);
      Row line = labels.row(p);
      line.insert(line.end(),
                  {printable(channel), bytes_cell(bytes),
                   busy == record.channel_utilisation.end() ? Cell() : busy_cell(busy->second)});
      table.add(std::move(line));
    }
  }
  return table;
}

Json to_object(const BytesByClass& by_class) {
  Json out = Json::object();
  for (const auto& [name, bytes] : by_class) out[name] = bytes;
  return out;
}

Json to_object(const IoRow& row, bool compared) {
  const DeviceBytes& device = row.device;
  Json out{{"payload", {{"read", device.payload.read}, {"write", device.payload.write}}},
           {"moved", {{"read", device.moved.read}, {"write", device.moved.write}}},
           {"wire", device.wire},
           {"read_by_class", to_object(device.read)},
           {"write_by_class", to_object(device.write)},
           {"payload_per_request", number_or_null<Json>(row.per_request())},
           {"payload_per_token", number_or_null<Json>(row.per_token())},
           {"busiest_channel", device.busiest},
           {"busy_share", device.busy}};
  if (compared) out["of_baseline"] = number_or_null<Json>(row.relative());
  return out;
}

Json channels_object(const RunRecord& record) {
  Json out = Json::object();
  for (const auto& [channel, bytes] : record.channel_bytes) {
    Json& entry = out[channel] = Json{{"bytes", bytes}};
    const auto busy = record.channel_utilisation.find(channel);
    entry["busy_share"] = busy == record.channel_utilisation.end() ? Json() : Json(busy->second);
  }
  return out;
}

}  // namespace

std::vector<Table> io_tables(const PointTable& table, const std::optional<Baseline>& baseline) {
  const std::vector<IoRow> rows = io_rows(table, baseline);
  std::vector<Table> out{by_device(table, rows, baseline)};
  for (Table& more : std::vector{by_class(table, rows), class_rows(table, rows), by_channel(table)})
    if (!more.rows.empty()) out.push_back(std::move(more));
  return out;
}

std::string io_json(const PointTable& table, const std::optional<Baseline>& baseline) {
  const std::vector<IoRow> rows = io_rows(table, baseline);
  Json points = Json::array();
  auto row = rows.begin();
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    Json& entry = points.emplace_back(point_object<Json>(table, p));
    entry["devices"] = Json::object();
    for (; row != rows.end() && row->point == p; ++row)
      entry["devices"][row->device.device] = to_object(*row, baseline.has_value());
    entry["channels"] =
        table.points[p].record ? channels_object(*table.points[p].record) : Json::object();
  }
  Json out{{"report", "io"}};
  if (baseline) out["baseline"] = baseline->name;
  out["points"] = std::move(points);
  return out.dump(2) + '\n';
}

}  // namespace tiersim
