#include "sim/cli/kernel_tables.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/cli/timing_files.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

using Descriptions = std::map<std::string, TimingTableConfig>;

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

Descriptions all_descriptions() {
  Descriptions out;
  for (const auto& entry : fs::directory_iterator(config_root() / "calibration/tables")) {
    const std::string name = entry.path().stem().string();
    out.emplace(name, load_description(name));
  }
  return out;
}

// The descriptions with the longest beginning of the file's name, each of some of its rows.
std::vector<std::string> described_by(const std::string& file, const Descriptions& descriptions) {
  std::vector<std::string> found;
  std::size_t longest = 0;
  for (const auto& [name, description] : descriptions) {
    std::vector<std::string> beginnings = description.files;
    if (beginnings.empty()) beginnings.push_back(name + "__");
    std::size_t own = 0;
    for (const std::string& beginning : beginnings)
      if (file.starts_with(beginning)) own = std::max(own, beginning.size());
    if (own == 0 || own < longest) continue;
    if (own > longest) found.clear();
    longest = own;
    found.push_back(name);
  }
  return found;
}

TimedFile timed_file(const fs::path& path) {
  TimedFile out{.path = path, .folder = path.parent_path().filename().string(), .description = {}};
  const std::string name = path.filename().string();
  const std::string stem = name.substr(0, name.find(".csv"));
  const std::size_t mark = stem.find("__");
  if (mark == std::string::npos) return out;
  const std::string rest = stem.substr(mark + 2);
  out.engine = first_word(rest);
  if (out.engine.size() < rest.size()) out.version = rest.substr(out.engine.size() + 1);
  return out;
}

std::vector<TimedFile> files_in(const std::vector<std::string>& paths) {
  std::vector<fs::path> found;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      found.emplace_back(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.path().filename().string().find(".csv") != std::string::npos)
        found.push_back(entry.path());
  }
  std::ranges::sort(found);
  std::vector<TimedFile> out;
  for (const fs::path& path : found) out.push_back(timed_file(path));
  return out;
}

void drop_other_versions(std::vector<KernelTable>& tables,
                         const std::vector<ShippedCalibration>& calibrations,
                         const std::vector<std::string>& named) {
  const auto shipped = [&](const KernelTable& table) {
    return std::ranges::any_of(calibrations, [&](const ShippedCalibration& each) {
      return first_word(each.part) == first_word(table.file.folder) &&
             each.name.ends_with(fmt::format("/{}-{}", table.file.engine, table.file.version)) &&
             each.has(table.alike);
    });
  };
  const auto is_other = [&](const KernelTable& table) {
    return !contains(named, table.file.path.string()) && !shipped(table) &&
           std::ranges::any_of(tables, [&](const KernelTable& other) {
             return other.file.folder == table.file.folder && other.alike == table.alike &&
                    other.file.engine == table.file.engine && shipped(other);
           });
  };
  std::vector<KernelTable> kept;
  for (const KernelTable& table : tables) {
    if (is_other(table))
      fmt::print(stderr, "note: left out, a calibration is shipped for another version: {}\n",
                 printable(table.file.path.string()));
    else
      kept.push_back(table);
  }
  tables = std::move(kept);
}

}  // namespace

std::string first_word(const std::string& name) {
  return name.substr(0, name.find('_'));
}

bool ShippedCalibration::has(const std::vector<std::string>& any) const {
  return std::ranges::any_of(any, [&](const std::string& each) { return contains(tables, each); });
}

std::vector<KnownPart> known_parts() {
  std::vector<KnownPart> out;
  for (const auto& entry : fs::directory_iterator(config_root() / "calibration"))
    if (entry.is_directory()) out.push_back({entry.path().filename().string(), {}});
  std::vector<fs::path> systems;
  for (const auto& entry : fs::directory_iterator(config_root() / "systems"))
    systems.push_back(entry.path());
  std::ranges::sort(systems);
  for (KnownPart& part : out) {
    const std::string word = first_word(part.name) + '_';
    for (const fs::path& system : systems) {
      const std::string name = system.filename().string();
      const bool host = name.ends_with("_host_dram.yaml");
      if (name.starts_with(word) && (part.system.empty() || host)) part.system = system;
    }
  }
  std::erase_if(out, [](const KnownPart& part) { return part.system.empty(); });
  std::ranges::sort(out, {}, &KnownPart::name);
  return out;
}

std::vector<ShippedCalibration> shipped_calibrations() {
  std::vector<ShippedCalibration> out;
  const fs::path root = config_root() / "calibration";
  for (const KnownPart& part : known_parts())
    for (const auto& entry : fs::directory_iterator(root / part.name)) {
      const std::string name = entry.path().filename().string();
      ShippedCalibration calibration{
          part.name, name.substr(0, name.find('-')), part.name + '/' + name, {}};
      for (const auto& file : fs::directory_iterator(entry.path()))
        calibration.tables.push_back(file.path().stem().string());
      out.push_back(std::move(calibration));
    }
  std::ranges::sort(out, {}, &ShippedCalibration::name);
  return out;
}

std::vector<KernelTable> kernel_tables(const std::vector<std::string>& paths,
                                       const std::string& description,
                                       const std::vector<std::string>& only) {
  Descriptions descriptions = all_descriptions();
  if (!description.empty() && !descriptions.contains(description))
    descriptions.emplace(description, load_description(description));
  std::set<std::string> unknown;
  std::vector<KernelTable> out;
  for (const TimedFile& file : files_in(paths)) {
    const std::string name = file.path.filename().string();
    const std::vector<std::string> described = description.empty()
                                                   ? described_by(name, descriptions)
                                                   : std::vector<std::string>{description};
    if (described.empty() && only.empty()) unknown.insert(name.substr(0, name.find("__")));
    for (const std::string& each : described) {
      if (!only.empty() && !contains(only, each)) continue;
      const TimingTableConfig& found = descriptions.at(each);
      if (!found.form || !found.form->family) continue;
      KernelTable table{.file = file, .description = found, .alike = {}};
      table.file.description = each;
      for (const auto& [other, config] : descriptions)
        if (config.form && config.form->name == found.form->name &&
            config.form->family == found.form->family)
          table.alike.push_back(other);
      out.push_back(std::move(table));
    }
  }
  if (!unknown.empty())
    fmt::print(stderr, "note: no description in configs/calibration/tables: {}\n",
               printable(join(std::vector<std::string>(unknown.begin(), unknown.end()))));
  drop_other_versions(out, shipped_calibrations(), paths);
  return out;
}

}  // namespace tiersim::cli
