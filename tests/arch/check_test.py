#!/usr/bin/env python3
"""Every rule must catch a violation planted in a tree that is otherwise whole."""
import pathlib
import tempfile
import textwrap
import unittest

import check
import functions
import rules


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for folder in rules.TOP_FOLDERS:
            self.plant(f"{folder}/README.md", f"# {folder}\n")
        self.plant("CMakeLists.txt", "project(tree)\n")

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")

    def assert_finds(self, *parts):
        findings = check.check(self.root)
        self.assertEqual(len(findings), 1, findings)
        for part in parts:
            self.assertIn(part, findings[0])

    def assert_clean(self):
        self.assertEqual(check.check(self.root), [])


class Layers(Planted):
    def test_a_tree_that_keeps_every_rule_is_clean(self):
        self.plant("sim/step/a.cpp", """\
            #include <vector>
            #include "sim/base/units.hpp"
            #include "hwmodels/device_library.hpp"
            """)
        self.assert_clean()

    def test_an_include_that_points_up(self):
        self.plant("sim/base/a.cpp", '#include "sim/core/engine.hpp"\n')
        self.assert_finds("sim/base/a.cpp:1: layers", "sim/base must not include sim/core")

    def test_workloads_including_hardware(self):
        self.plant("workloads/llm/a.hpp", '#pragma once\n#include "hwmodels/runs.hpp"\n')
        self.assert_finds("workloads/llm/a.hpp:2: layers")

    def test_reports_including_more_of_run_than_records(self):
        self.plant("reports/a.cpp", '#include "sim/record/run_record.hpp"\n')
        self.assert_clean()
        self.plant("reports/a.cpp", '#include "sim/step/executor.hpp"\n')
        self.assert_finds("reports/a.cpp:1: layers")

    def test_kernels_including_the_simulator(self):
        self.plant("kernels/a.cu", '#include "sim/base/units.hpp"\n')
        self.assert_finds("kernels/a.cu:1: layers")

    def test_an_include_relative_to_its_own_folder(self):
        self.plant("sim/core/a.cpp", '#include "engine.hpp"\n')
        self.assert_finds("not a path from the root")

    def test_a_module_without_a_row(self):
        self.plant("sim/extra/a.cpp", "int a;\n")
        self.assert_finds("sim/extra has no row")


class ThirdParty(Planted):
    def test_yaml_outside_config(self):
        self.plant("sim/config/reader.cpp", "#include <yaml-cpp/yaml.h>\n")
        self.assert_clean()
        self.plant("sim/step/a.cpp", "#include <yaml-cpp/yaml.h>\n")
        self.assert_finds("sim/step/a.cpp:1: third_party")

    def test_cli11_outside_the_command_line(self):
        self.plant("sim/step/a.cpp", "#include <CLI/CLI.hpp>\n")
        self.assert_finds("sim/step/a.cpp:1: third_party")

    def test_json_in_a_header(self):
        self.plant("sim/config/a.hpp", "#include <nlohmann/json.hpp>\n")
        self.assert_finds("sim/config/a.hpp:1: third_party")

    def test_a_library_in_a_public_header(self):
        self.plant("sim/base/a.hpp", "#include <fmt/format.h>\n#include <concepts>\n")
        self.assert_clean()
        self.plant("sim/core/a.hpp", "#include <fmt/format.h>\n")
        self.assert_finds("sim/core/a.hpp:1: clean_headers")

    def test_a_library_that_ends_the_program(self):
        self.plant("sim/core/a.cpp", "// exit(1)\nstatic_assert(true);\nvoid f() { exit(1); }\n")
        self.assert_finds("sim/core/a.cpp:3: library_calls", "exit")

    def test_a_library_that_prints(self):
        self.plant("reports/a.cpp", 'void f() { std::cerr << "no"; }\n')
        self.assert_finds("reports/a.cpp:1: library_calls", "cerr")


class Sizes(Planted):
    def test_a_file_of_501_lines(self):
        self.plant("sim/core/a.cpp", "int x;\n" * 500)
        self.assert_clean()
        self.plant("sim/core/a.cpp", "int x;\n" * 501)
        self.assert_finds("sim/core/a.cpp:1: file_length", "501 lines")

    def function_of(self, lines):
        return "namespace a {\nint f(int x) {\n" + "  ++x;\n" * (lines - 2) + "}\n}\n"

    def test_a_function_of_71_lines(self):
        self.plant("sim/core/a.cpp", self.function_of(70))
        self.assert_clean()
        self.plant("sim/core/a.cpp", self.function_of(71))
        self.assert_finds("sim/core/a.cpp:2: function_length", "71 lines")

    def test_a_python_function_of_71_lines(self):
        self.plant("reports/a.py", "def f():\n" + "    x = 1\n" * 70)
        self.assert_finds("reports/a.py:1: function_length", "71 lines")

    def test_a_readme_longer_than_a_page(self):
        self.plant("sim/README.md", "x\n" * 81)
        self.assert_finds("sim/README.md:1: readmes", "81 lines")

    def test_two_types_of_one_name(self):
        for folder, space in (("sim/step", "tiersim"), ("workloads", "tiersim"), ("reports", "tiersim::other")):
            self.plant(f"{folder}/trace.hpp", f"#pragma once\nnamespace {space} {{\nstruct Trace {{\n  int x;\n}};\n}}\n")
        self.assert_finds("workloads/trace.hpp:3: type_names: tiersim::Trace", "sim/step/trace.hpp")

    def test_a_folder_without_readme(self):
        self.plant("kernels/a.cu", "int a;\n")
        (self.root / "kernels/README.md").unlink()
        self.assert_finds("kernels/README.md:1: readmes: missing")


class FunctionFinder(unittest.TestCase):
    def found(self, text):
        return functions.cxx_functions(textwrap.dedent(text))

    def test_constructors_whose_members_are_initialised_by_braces(self):
        self.assertEqual(self.found("""\
            struct A {
             public:
              A(int x)
                  : a_{x}, b_{x} {
                go();
              }
            };
            """), [(3, 4)])

    def test_operators_defaults_templates_and_trailing_types(self):
        self.assertEqual(self.found("""\
            template <class T = std::vector<int>>
            auto f(T x = {}) -> int {
              return x;
            }
            bool operator==(A a, B b) {
              return false;
            }
            """), [(1, 4), (5, 3)])

    def test_tables_lambdas_types_text_and_macros_are_no_functions(self):
        self.assertEqual(self.found("""\
            #define OPEN(x) void x() { \\
              {
            const std::array<int, 2> kTable = {f(1), f(2)};
            const auto kGo = [](int x) { return x; };
            enum class E : int { a, b };
            class B final : public C<int(int)> { int x; };
            const char* kText = "void f() {"; // void g() {
            const char* kRaw = R"(void h() {)";
            int big = 1'000'000;
            """), [])


class TreeRules(Planted):
    def test_an_eighth_folder(self):
        self.plant("scripts/run.py", "x = 1\n")
        self.assert_finds("scripts:1: top_level")

    def test_build_and_dot_folders_do_not_count(self):
        self.plant("build/dev/a.cpp", "int a;\n")
        self.plant(".ci/run", "true\n")
        self.assert_clean()

    def test_a_stray_file_at_the_root(self):
        self.plant("notes.txt", "x\n")
        self.assert_finds("notes.txt:1: top_level")

    def test_a_path_of_one_machine(self):
        self.plant("reports/a.md", "see /wo" + "rk/main\n")
        self.assert_finds("reports/a.md:1: machine_paths")

    def test_an_unfinished_mark(self):
        mark = "TO" + "DO"
        self.plant("sim/core/a.cpp", f"// {mark}(#12): later\n")
        self.assert_clean()
        self.plant("sim/core/a.cpp", f"// {mark}: later\n")
        self.assert_finds("sim/core/a.cpp:1: unfinished")

    def test_a_card_that_the_formatter_wrapped(self):
        card = """\
            #pragma once
            // Model card: a (fidelity: flow)
            //   Equation  rate <= bandwidth; time >= runs *
            //             descriptor_time.
            //   Hit rate  a number.
            """
        self.plant("hwmodels/link/a.hpp", card)
        self.assert_clean()
        self.plant("hwmodels/link/a.hpp", card + "//   so\n")
        self.assert_finds("hwmodels/link/a.hpp:6: cards")
        self.plant("hwmodels/link/a.hpp", card + "//   head_dim. Prefill   exact attention.\n")
        self.assert_finds("hwmodels/link/a.hpp:6: cards")

    def test_a_test_that_never_runs(self):
        self.plant("tests/unit/a/CMakeLists.txt", "tiersim_test(a SOURCES a_test.cpp)\n")
        self.plant("tests/unit/a/a_test.cpp", "int a;\n")
        self.assert_clean()
        self.plant("tests/unit/a/b_test.cpp", "int b;\n")
        self.assert_finds("tests/unit/a/b_test.cpp:1: listed_tests")
        self.plant("tests/unit/CMakeLists.txt", """\
            foreach(name IN ITEMS a/b_test)
              add_executable(${name} ${name}.cpp)
            endforeach()
            """)
        self.assert_clean()


class Sources(Planted):
    def test_a_value_in_braces_without_source(self):
        self.plant("configs/devices/a.yaml", """\
            read: {value: 1 GB/s, class: specification, source: "Table #1 {a}"}
            write: {value: 1 GB/s, class: assumed}
            """)
        self.assert_finds("configs/devices/a.yaml:2: sourced_numbers", "value without source")

    def test_a_value_in_a_block_without_class(self):
        self.plant("configs/devices/a.yaml", """\
            read:
              class: measured
              # the note says value: 3
              value: 1 GB/s

              source: run 7
            write:
              value: 2 GB/s
              source: run 7
            """)
        self.assert_finds("configs/devices/a.yaml:8: sourced_numbers", "value without class")

    def test_a_value_in_a_list_of_blocks(self):
        self.plant("configs/devices/a.yaml", """\
            points:
              - value: 1 GB/s
                class: measured
                source: run 7
              - value: 2 GB/s
            """)
        self.assert_finds("configs/devices/a.yaml:5: sourced_numbers", "class and source")


class EditorLines(Planted):
    LINE = "# yaml-language-server: $schema=../../schema/device.schema.json"

    def setUp(self):
        super().setUp()
        self.plant("configs/schema/device.schema.json", "{}\n")

    def test_a_file_whose_editor_finds_the_schema(self):
        self.plant("configs/devices/old/a.yaml", f"{self.LINE}\n# A device.\nschema: tiersim.device/v1\n")
        self.plant("configs/devices/b.yaml", "# Written by `tiersim calibrate`.\nschema: tiersim.device/v1\n")
        self.plant("configs/kernels/c.yaml", "schema: tiersim.kernel/v1\n")
        self.assert_clean()

    def test_a_file_without_the_line(self):
        self.plant("configs/devices/old/a.yaml", "schema: tiersim.device/v1\n")
        self.assert_finds("configs/devices/old/a.yaml:1: editor_lines", self.LINE)

    def test_a_line_with_another_path(self):
        self.plant("configs/devices/a.yaml", f"{self.LINE}\nschema: tiersim.device/v1\n")
        self.assert_finds("configs/devices/a.yaml:1: editor_lines", "$schema=../schema/device.schema.json")

    def test_a_line_of_a_kind_without_schema(self):
        self.plant("configs/kernels/a.yaml", f"{self.LINE}\nschema: tiersim.kernel/v1\n")
        self.assert_finds("configs/kernels/a.yaml:1: editor_lines", "remove this line")


class Changelog(Planted):
    TABLE = "| number | old | new | why |\n|---|---|---|---|\n| a | 1 s | 2 s | b |\n"

    def test_a_changelog_that_says_what_numbers_changed(self):
        self.plant("CHANGELOG.md", f"# Changelog\n## Unreleased\n{self.TABLE}- NUMBERS-CHANGED: a\n  - more\n"
                                   "## 0.1.0 (2030-01-31)\n- BREAKING: b\n- NUMBERS-IDENTICAL: c\n")
        self.assert_clean()

    def test_an_entry_without_a_label(self):
        self.plant("CHANGELOG.md", "## Unreleased\n- BREAKING: a\n- NUMBERS: b\n")
        self.assert_finds("CHANGELOG.md:3: changelog", "NUMBERS-IDENTICAL")

    def test_changed_numbers_without_a_table(self):
        self.plant("CHANGELOG.md", f"## Unreleased\n- NUMBERS-CHANGED: a\n## 0.1.0 (2030-01-31)\n{self.TABLE}")
        self.assert_finds("CHANGELOG.md:1: changelog", "no table")

    def test_a_version_without_its_day(self):
        self.plant("CHANGELOG.md", "## 0.1.0\n- BREAKING: a\n")
        self.assert_finds("CHANGELOG.md:1: changelog", "2030-12-31")


if __name__ == "__main__":
    unittest.main()
