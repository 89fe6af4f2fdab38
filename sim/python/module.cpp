// The Python module `tiersim`: the results of `tiersim run`, `config show` and `list` with --json,
// as dictionaries, with exceptions for errors. It adds no logic of its own; tiersim.pyi lists its
// functions.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "sim/base/version.hpp"
#include "sim/runner/listing.hpp"
#include "sim/runner/run_file.hpp"

namespace tiersim {
namespace {

namespace py = pybind11;
namespace fs = std::filesystem;

using Settings = std::vector<std::string>;

py::object from_json(const std::string& text) {
  return py::module_::import("json").attr("loads")(text);
}

std::string run_json(const fs::path& path, const Settings& set) {
  const py::gil_scoped_release others_may_run;
  return to_json(run_file(load_runnable(path, set), path.string(), set));
}

std::string config_json(const fs::path& path, const Settings& set) {
  return canonical_json(load_runnable(path, set).config);
}

py::list to_list(const std::vector<Diagnostic>& diagnostics) {
  py::list out;
  for (const Diagnostic& d : diagnostics) {
    py::dict entry;
    entry["file"] = d.where.file;
    entry["line"] = d.where.line;
    entry["column"] = d.where.column;
    entry["path"] = d.path;
    entry["message"] = d.message;
    entry["hint"] = d.hint;
    entry["text"] = d.text();
    out.append(std::move(entry));
  }
  return out;
}

// The program looks for the shipped configurations above itself. The interpreter lies elsewhere, so
// here the search starts at the module. TIERSIM_CONFIGS has priority.
void find_configs() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&find_configs), &info) == 0) return;
  std::error_code error;
  for (fs::path at = fs::canonical(info.dli_fname, error).parent_path(); at != at.parent_path();
       at = at.parent_path())
    for (const char* candidate : {"configs", "share/tiersim/configs"})
      if (fs::is_directory(at / candidate / "scenarios", error)) {
        ::setenv("TIERSIM_CONFIGS", (at / candidate).c_str(), 0);
        return;
      }
}

}  // namespace

PYBIND11_MODULE(tiersim, m) {
  find_configs();
  m.doc() = "Discrete-event simulator of memory tiers and interconnects for LLM inference";
  m.attr("__version__") = kVersion;
  static const py::exception<Failure> error(m, "Error");
  static const py::exception<BadConfig> config_error(m, "ConfigError", error.ptr());
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const BadConfig& e) {
      const py::object type = config_error;
      py::object instance = type(e.what());
      instance.attr("diagnostics") = to_list(e.diagnostics);
      PyErr_SetObject(config_error.ptr(), instance.ptr());
    } catch (const Failure& e) {
      PyErr_SetString(error.ptr(), e.what());
    }
  });
  const auto settings = py::arg("set") = Settings{};
  m.def(
      "run",
      [](const fs::path& path, const Settings& set) { return from_json(run_json(path, set)); },
      py::arg("path"), settings, "Simulates a scenario or a served workload; the record.");
  m.def(
      "config",
      [](const fs::path& path, const Settings& set) { return from_json(config_json(path, set)); },
      py::arg("path"), settings, "The effective configuration.");
  m.def(
      "list", [](const std::string& what) { return from_json(listing_of(what).json); },
      py::arg("what"), "What there is: hw, devices, systems, models, methods, metrics, ...");
}

}  // namespace tiersim
