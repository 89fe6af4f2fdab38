"""The table of layers and the other agreements on the tree, as data. CONTRIBUTING.md explains them."""

# Module -> modules that it may include besides itself. A pattern instead of a module name narrows
# the permission to the files that match it. An include may only point down.
LIBRARIES = ["sim/base", "sim/expression", "sim/config", "sim/core", "sim/model", "hwmodels", "workloads",
             "sim/record", "sim/step", "sim/serving", "sim/runner"]
LAYERS = {
    "sim/base": [],
    "sim/expression": ["sim/base"],
    "sim/config": ["sim/base"],
    "sim/core": ["sim/base"],
    "sim/model": ["sim/base", "sim/config", "sim/core"],
    "hwmodels": ["sim/base", "sim/expression", "sim/config", "sim/core", "sim/model"],
    "workloads": ["sim/base", "sim/config", "sim/core", "sim/model"],
    "sim/record": ["sim/base", "sim/config"],
    "sim/step": LIBRARIES[:8],
    "sim/serving": LIBRARIES[:9],
    "sim/trace": LIBRARIES[:10],
    "sim/runner": LIBRARIES[:10],
    "sim/sweep": LIBRARIES,
    "sim/validate": LIBRARIES,
    # Records, the tables of others, and the words of scenarios; nothing that runs.
    "reports": ["sim/base", "sim/config", "sim/model", "sim/record", "sim/validate/published_*.hpp",
                "sim/validate/timed_rows.hpp", "sim/validate/fitted_times.hpp",
                "sim/validate/metric_difference.hpp", "hwmodels/calibrate/table/timing_table_config.hpp",
                "workloads/*_config.hpp", "workloads/numerics/study.hpp", "workloads/serving/trace_statistics.hpp", "workloads/serving/trace_caches.hpp",
                "workloads/sessions/trace_fit.hpp",
                "hwmodels/calibrate/fit/calibration.hpp", "hwmodels/memory/dram_fit.hpp",
                "hwmodels/topology/topology_config.hpp", "hwmodels/topology/topology_facts.hpp",
                "hwmodels/calibrate/fit/form_fit.hpp", "hwmodels/calibrate/table/timing_table.hpp"],
    "sim/study": LIBRARIES + ["reports"],
    "sim/cli": LIBRARIES + ["sim/trace", "sim/sweep", "sim/validate", "reports", "sim/study"],
    "sim/python": ["sim/base", "sim/runner"],
    "kernels": [],
    "tests": LIBRARIES + ["sim/trace", "sim/sweep", "sim/validate", "reports", "sim/study",
                          "sim/cli", "kernels"],
}

# Third-party include -> where it may stand (patterns of paths).
THIRD_PARTY_PLACES = {
    "yaml-cpp/": ["sim/config/*.cpp", "tests/*"],
    "CLI/": ["sim/cli/command_line.cpp"],
    "pybind11/": ["sim/python/*"],
    "nlohmann/": ["*.cpp"],
    "Eigen/": ["workloads/numerics/*", "hwmodels/calibrate/*.cpp", "sim/validate/server_fit.cpp", "tests/*"],
    "boost/": ["*.cpp", "tests/*"],
}
COMPILER_HEADERS = ("sanitizer/",)  # come with g++ and clang, so they may stand in any header
# Headers that may include more than the standard library, with the allowed includes.
HEADER_THIRD_PARTY = {
    "sim/base/": ["fmt/"],
    "sim/config/": ["fmt/", "nlohmann/"],
    "workloads/numerics/": ["Eigen/"],
    "kernels/": [""],  # CUDA
    "tests/": [""],    # GoogleTest and the like
}

TOP_FOLDERS = ["configs", "hwmodels", "kernels", "reports", "sim", "tests", "workloads"]
ROOT_FILES = ["*.md", "LICENSE", "CITATION.cff", "CMakeLists.txt", "CMakePresets.json", "Containerfile",
              "tiersim", ".*"]

# Libraries report through Diagnostics and checks; only these files may end the program or print.
MAY_EXIT_OR_PRINT = ["sim/cli/*", "sim/base/check.cpp", "kernels/*", "tests/*"]

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70
MAX_README_LINES = 80

# Headers here begin with a card: what is modelled, the equation, the source.
CARD_FOLDERS = ["hwmodels/", "workloads/attention/"]

# Files whose editors find the schema of their kind by a first line; SCHEMAS has one a kind.
EDITED_YAML = ["configs/", "reports/targets/"]
SCHEMAS = "configs/schema/{kind}.schema.json"

# How an entry of CHANGELOG.md begins, and the table that a version with changed numbers has.
CHANGE_LABELS = ["NUMBERS-IDENTICAL", "NUMBERS-CHANGED", "BREAKING"]
CHANGED_NUMBERS_TABLE = "| number | old | new | why |"
