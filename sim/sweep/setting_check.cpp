#include "sim/sweep/setting_check.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/config/describe.hpp"
#include "sim/runner/runnable.hpp"
#include "sim/sweep/space_builder.hpp"

namespace tiersim {
namespace {

// For axes with more values than this, the ends and the middle are tried.
constexpr std::size_t kMostValues = 1000;
constexpr std::size_t kMostContexts = 24;

// A setting with its place in the SPEC.
struct PlacedOption {
  std::string text = {};
  std::string path = {};      // of the option, or of the value
  std::string key_path = {};  // of the key; empty if the option is written as a whole
};

// A point to try: a file and settings.
struct Trial {
  std::string scenario = {};
  std::vector<PlacedOption> options = {};
};

// True where the diagnostic belongs to the override, whose name may be cut (overrides.cpp).
bool is_of(const Diagnostic& diagnostic, const std::string& option) {
  constexpr std::size_t kShortened = 100;
  const std::string name = "--set '" + option.substr(0, kShortened);
  return diagnostic.where.file.starts_with(name) &&
         (option.size() > kShortened || diagnostic.where.file == name + '\'');
}

class SettingChecker {
 public:
  SettingChecker(const SweepConfig& config, const Document& spec, ScenarioFiles& files,
                 Diagnostics& diagnostics, const Diagnostics& before)
      : config_(config),
        spec_(spec),
        files_(files),
        diagnostics_(diagnostics),
        places_(spec, diagnostics, before) {
    // Compiled twice: the first result finds the scenarios, which tell the settings that are
    // counts.
    compile({}, before);
    compile([known = counts()](const std::string& key) { return known.contains(key); }, before);
  }

  void run() {
    check_files();
    for (std::size_t g = 0; g < space_.grids.size(); ++g) check_grid(g);
    for (const IncludedPoint& included : space_.included) check_included(included);
  }

  bool is_count(const std::string& key) {
    for (std::size_t g = 0; g < space_.grids.size(); ++g)
      for (const auto& place : contexts(space_.grids[g], GridPlace(space_.grids[g].groups.size()),
                                        space_.grids[g].groups.size()))
        if (takes_whole(trial(g, place), key)) return true;
    return false;
  }

 private:
  // A mistake of a trial in one of its settings, given by the position of the option.
  struct Fault {
    std::size_t option = 0;
    Diagnostic diagnostic = {};
  };

  void compile(const IsCount& is_count, const Diagnostics& before) {
    Diagnostics reported_elsewhere;
    const SpecPlaces silent(spec_, reported_elsewhere, before);
    space_ = {};
    AxisBuilder axes(config_, silent, is_count);
    axes.build(space_);
    SpaceBuilder(config_, silent, axes.broken()).build(space_);
  }
  // Keys with ranges whose setting is a count.
  std::set<std::string> counts() {
    std::set<std::string> keys;
    std::set<std::string> out;
    for (const SpaceGrid& grid : space_.grids)
      for (const AxisGroup& group : grid.groups)
        for (const AxisChoices& axis : group.axes)
          if (axis.range) keys.insert(axis.key);
    for (const std::string& key : keys)
      if (is_count(key)) out.insert(key);
    return out;
  }

  void check_file(const std::string& name, const std::string& path) {
    if (!name.empty() && !files_.has(name))
      places_.report(path, fmt::format("there is no file '{}'", name),
                     "beside this file or below the shipped configurations");
  }
  void check_files() {
    check_file(config_.scenario, "scenario");
    for (std::size_t g = 0; g < config_.grids.size(); ++g)
      check_file(config_.grids[g].scenario, fmt::format("grids.{}.scenario", g));
    for (const SpaceGrid& grid : space_.grids)
      for (const AxisGroup& group : grid.groups)
        for (const AxisChoices& axis : group.axes)
          for (const AxisChoice& choice : axis.choices)
            check_file(choice.scenario, choice.path + ".scenario");
  }

  void add_choice(const AxisChoice& choice, const std::string& axis_path, bool is_variant,
                  Trial& out) const {
    for (std::size_t i = 0; i < choice.set.size(); ++i)
      out.options.push_back({choice.set[i],
                             is_variant ? fmt::format("{}.set.{}", choice.path, i) : choice.path,
                             is_variant ? "" : axis_path + ".key"});
    if (!choice.scenario.empty()) out.scenario = choice.scenario;
  }
  Trial base_trial(std::size_t g) const {
    Trial out{.scenario = space_.grids[g].scenario};
    for (std::size_t i = 0; i < config_.set.size(); ++i)
      out.options.push_back({config_.set[i], fmt::format("set.{}", i)});
    if (config_.grids.empty()) return out;
    const auto& own = config_.grids[g].set;
    for (std::size_t i = 0; i < own.size(); ++i)
      out.options.push_back({own[i], fmt::format("grids.{}.set.{}", g, i)});
    return out;
  }
  Trial trial(std::size_t g, const GridPlace& place) const {
    Trial out = base_trial(g);
    const SpaceGrid& grid = space_.grids[g];
    for (std::size_t i = 0; i < place.size(); ++i)
      for (const AxisChoices& axis : grid.groups[i].axes)
        add_choice(axis.choices[static_cast<std::size_t>(place[i].index)], axis.path,
                   axis.key.empty(), out);
    return out;
  }

  // Nothing if there is no such file.
  std::optional<Document> load(const Trial& of, Diagnostics& own) {
    Point point{of.scenario};
    for (const PlacedOption& option : of.options) point.set.push_back(option.text);
    return files_.load(point, own);
  }

  std::vector<Fault> faults_of(const Trial& of) {
    Diagnostics own;
    if (const auto document = load(of, own)) static_cast<void>(read_runnable(*document, own));
    std::vector<Fault> out;
    for (const Diagnostic& diagnostic : own.list()) {
      if (diagnostic.of_several) continue;
      const auto at = std::ranges::find_if(
          of.options, [&](const PlacedOption& option) { return is_of(diagnostic, option.text); });
      if (at != of.options.end())
        out.push_back({static_cast<std::size_t>(at - of.options.begin()), diagnostic});
      else if (of.options.empty() || !diagnostic.where.file.starts_with("--set"))
        file_faults_.push_back(diagnostic);
    }
    return out;
  }

  bool takes_whole(const Trial& of, const std::string& key) {
    Diagnostics ignored;
    const auto document = load(of, ignored);
    return document && takes_whole_numbers(read_runnable(*document, ignored), key);
  }

  // The place, and the same place with each variant of the other groups in turn: a mistake in all
  // of them belongs to the setting itself.
  static std::vector<GridPlace> contexts(const SpaceGrid& grid, const GridPlace& place,
                                         std::size_t of_group) {
    std::vector<GridPlace> out{place};
    for (std::size_t g = 0; g < grid.groups.size(); ++g) {
      const AxisGroup& group = grid.groups[g];
      const bool has_variants =
          std::ranges::any_of(group.axes, [](const AxisChoices& a) { return a.key.empty(); });
      if (g == of_group || !has_variants) continue;
      for (std::int64_t i = 1; i < group.size && out.size() < kMostContexts; ++i) {
        GridPlace other = place;
        other[g].index = i;
        out.push_back(std::move(other));
      }
    }
    return out;
  }

  void report(const PlacedOption& option, const Diagnostic& found) {
    const auto key_end = static_cast<int>(option.text.find('='));
    const bool of_key = found.where.column <= key_end;
    Diagnostic out = found;
    if (option.key_path.empty())
      out.where =
          places_.fault(option.path, {static_cast<std::size_t>(found.where.column - 1), "", ""})
              .where;
    else
      out.where = places_.value(of_key ? option.key_path : option.path);
    if (reported_.insert({out.where.line, out.where.column, out.message}).second)
      diagnostics_.report(std::move(out));
  }

  // Reports mistakes of the settings that `is_own` selects, if they occur in every context of the
  // place.
  template <class IsOwn>
  void check_place(std::size_t g, const GridPlace& place, std::size_t of_group,
                   const IsOwn& is_own) {
    std::vector<Fault> common;
    std::optional<Trial> reference;  // the trial with the faults in `common`
    for (const GridPlace& context : contexts(space_.grids[g], place, of_group)) {
      Trial here = trial(g, context);
      // A missing file was reported before, and settings cannot be checked without it.
      if (!files_.has(here.scenario)) continue;
      std::vector<Fault> faults;
      for (Fault& fault : faults_of(here))
        if (is_own(here.options[fault.option])) faults.push_back(std::move(fault));
      if (!reference) {
        common = std::move(faults);
        reference = std::move(here);
      } else {
        std::erase_if(common, [&](const Fault& fault) {
          return std::ranges::none_of(faults, [&](const Fault& f) {
            return f.diagnostic.message == fault.diagnostic.message &&
                   f.diagnostic.where.file == fault.diagnostic.where.file;
          });
        });
      }
      if (common.empty()) return;
    }
    for (const Fault& fault : common) report(reference->options[fault.option], fault.diagnostic);
  }

  static std::vector<std::int64_t> tried(const AxisGroup& group) {
    const bool all =
        static_cast<std::size_t>(group.size) <= kMostValues &&
        std::ranges::none_of(group.axes, [](const AxisChoices& a) { return a.range.has_value(); });
    if (!all) return {0, group.size / 2, group.size - 1};
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < group.size; ++i) out.push_back(i);
    return out;
  }

  void check_grid(std::size_t g) {
    const SpaceGrid& grid = space_.grids[g];
    const GridPlace first(grid.groups.size());
    const auto stands_in = [](const PlacedOption& option, const std::string& path) {
      return option.path == path || option.path.starts_with(path + '.');
    };
    const std::string own_set = fmt::format("grids.{}.set", g);
    check_place(g, first, grid.groups.size(), [&](const PlacedOption& option) {
      return stands_in(option, "set") || stands_in(option, own_set);
    });
    for (std::size_t i = 0; i < grid.groups.size(); ++i) {
      for (const std::int64_t index : tried(grid.groups[i])) {
        GridPlace place = first;
        place[i].index = index;
        check_place(g, place, i, [&](const PlacedOption& option) {
          return std::ranges::any_of(grid.groups[i].axes, [&](const AxisChoices& axis) {
            return stands_in(option, axis.path);
          });
        });
      }
    }
    check_derived(g);
    for (Diagnostic& fault : file_faults_)
      if (reported_.insert({fault.where.line, fault.where.column, fault.where.file + fault.message})
              .second)
        diagnostics_.report(std::move(fault));
    file_faults_.clear();
  }

  // Checks derived settings at the first place that has all of them.
  void check_derived(std::size_t g) {
    const SpaceGrid& grid = space_.grids[g];
    if (std::ranges::all_of(grid.derived, [](const DerivedColumn& d) { return d.key.empty(); }))
      return;
    SpacePoint point;
    const GridPlace first(grid.groups.size());
    try {
      if (!PointMaker(space_.columns).make(grid, first, point)) return;
    } catch (const PointMaker::Fault&) {
      return;
    }
    Trial with = trial(g, first);
    const std::size_t before = with.options.size();
    std::size_t next = point.set.size();
    for (auto d = grid.derived.rbegin(); d != grid.derived.rend(); ++d) {
      if (d->key.empty()) continue;
      const std::string at = d->value.path;
      const std::string key_path = at.substr(0, at.rfind('.')) + ".key";
      with.options.push_back({point.set[--next], at, key_path});
    }
    for (const Fault& fault : faults_of(with))
      if (fault.option >= before) report(with.options[fault.option], fault.diagnostic);
  }

  void check_included(const IncludedPoint& included) {
    const SpaceGrid& grid = space_.grids[included.grid];
    if (included.choices.size() != grid.axis_names().size()) return;  // reported before
    Trial with = base_trial(included.grid);
    std::size_t next = 0;
    for (const AxisGroup& group : grid.groups)
      for (const AxisChoices& axis : group.axes)
        add_choice(included.choices[next++], axis.path, axis.key.empty(), with);
    for (const Fault& fault : faults_of(with)) {
      const PlacedOption& option = with.options[fault.option];
      const auto key_end = static_cast<int>(option.text.find('='));
      if (option.path.starts_with("include") && fault.diagnostic.where.column > key_end)
        report(option, fault.diagnostic);
    }
  }

  const SweepConfig& config_;
  const Document& spec_;
  ScenarioFiles& files_;
  Diagnostics& diagnostics_;
  SpecPlaces places_;
  CompiledSpace space_;
  std::vector<Diagnostic> file_faults_;
  std::set<std::tuple<int, int, std::string>> reported_;
};

}  // namespace

void check_settings(const SweepConfig& config, const Document& spec, ScenarioFiles& files,
                    Diagnostics& diagnostics) {
  Diagnostics own;
  SettingChecker(config, spec, files, own, diagnostics).run();
  for (Diagnostic& diagnostic : own.list()) diagnostics.report(std::move(diagnostic));
}

IsCount count_settings(const SweepConfig& config, const Document& spec, ScenarioFiles& files) {
  // The checks report these mistakes, so they are ignored here.
  auto ignored = std::make_shared<Diagnostics>();
  auto checker = std::make_shared<SettingChecker>(config, spec, files, *ignored, *ignored);
  auto known = std::make_shared<std::map<std::string, bool>>();
  return [ignored, checker, known](const std::string& key) {
    const auto [it, is_new] = known->emplace(key, false);
    if (is_new) it->second = checker->is_count(key);
    return it->second;
  };
}

std::unique_ptr<DesignSpace> load_space(const SweepConfig& config, const Document& spec,
                                        ScenarioFiles& files, Diagnostics& diagnostics) {
  // Each check skips the mistakes of reading the SPEC, but not those that the other check finds.
  Diagnostics of_settings = diagnostics;
  check_settings(config, spec, files, of_settings);
  auto space = DesignSpace::build(config, spec, diagnostics, count_settings(config, spec, files));
  for (Diagnostic& diagnostic : of_settings.list()) diagnostics.report(std::move(diagnostic));
  return diagnostics.ok() ? std::move(space) : nullptr;
}

}  // namespace tiersim
