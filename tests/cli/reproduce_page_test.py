"""The page and the folder of figures that `reproduce` ends with: reproduce_page_test.py PROGRAM
SOURCE_FOLDER. Figures need gnuplot; without it the page says so, which is tested as well."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import reproduced
from program import InFolder, nightly, run

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class PageReader(html.parser.HTMLParser):
    """Elements that are not closed in order, ids, references and the text of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.outside, self.problems = [], [], [], [], []
        self.captions, self.inside = [], None
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> stays open" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "xlink:href", "src", "action", "data"):
                (self.links if value.startswith("#") else self.outside).append(value)
        if tag in ("figcaption", "caption"):
            self.captions.append("")
            self.inside = tag

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")
        if tag == self.inside:
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.captions[-1] += data


class ReproducePage(unittest.TestCase):
    """All papers."""

    @classmethod
    def setUpClass(cls):
        cls.folder = reproduced.files()
        cls.said = (reproduced.folder() / "stderr").read_text(encoding="utf-8")
        cls.text = (cls.folder / "index.html").read_text(encoding="utf-8")
        cls.page = PageReader(cls.text)
        cls.figures = cls.folder / "figures"

    def test_says_where_the_page_and_the_folder_are(self):
        self.assertIn(f"{self.folder}/index.html", self.said)
        self.assertIn(f"{self.folder}/figures", self.said)

    def test_parses_with_unique_ids_and_links_that_lead_somewhere(self):
        self.assertEqual(self.page.problems, [])
        self.assertEqual(len(self.page.ids), len(set(self.page.ids)))
        self.assertEqual({link[1:] for link in self.page.links} - set(self.page.ids), set())

    def test_refers_to_nothing_outside(self):
        self.assertEqual([v for v in self.page.outside if not v.startswith(("data:", "figures/"))], [])
        for way in ("@import", "url(http", "<link", "<iframe", "<img src=\"http"):
            self.assertNotIn(way, self.text)

    def test_has_every_table_of_the_reports(self):
        captions = set(self.page.captions)
        for paper in ("maple", "tpla", "early-exit"):
            report = json.loads((self.folder / paper / "report.json").read_text())
            self.assertTrue(report["targets"])
            for study in report.get("studies", []):
                self.assertTrue(any(study["title"] in c for c in captions), study["title"])
            for question in report.get("solves", []):
                self.assertTrue(any(question["title"] in c for c in captions), question["title"])
        for title in ("Printed, under the paper's assumptions, and from first principles",
                      "Results: met, explained and open", "Results by status"):
            self.assertTrue(any(title in c for c in captions), title)

    def test_counts_of_statuses_are_those_of_the_reports(self):
        table = self.text.split("Results by status</span>")[1].split("</table>")[0]
        rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[1:]]
        for paper in ("maple", "tpla", "early-exit"):
            report = json.loads((self.folder / paper / "report.json").read_text())
            column = rows[0].index(paper)
            self.assertIn(f"<a href=\"#paper-{paper}\">", rows[1][column])
            self.assertEqual(sum(int(row[column]) for row in rows[2:]), len(report["targets"]))

    def test_every_figure_has_data_and_script_and_is_on_the_page(self):
        scripts = sorted(self.figures.glob("*.gp"))
        self.assertGreaterEqual(len(scripts), 14)
        for stem in ("maple_fig1_left", "maple_fig3_dataflow", "maple_fig3_roofline", "maple_table1",
                     "maple_recall_speed", "tpla_fig3_speedup", "tpla_fig3_throughput",
                     "tpla_fig4_ttft", "tpla_speedup_grid", "early_exit_fig1", "early_exit_fig2"):
            self.assertTrue((self.figures / f"{stem}.gp").exists(), stem)
        for script in scripts:
            self.assertTrue(script.with_suffix(".dat").exists(), script)
            self.assertIn(f"href=\"figures/{script.stem}.gp\"", self.text)
        self.assertEqual([p for p in self.figures.iterdir() if p.name.startswith(".")], [])

    def test_every_file_that_the_page_links_to_is_there(self):
        linked = re.findall(r'href="([^#"][^"]*)"', self.text)
        self.assertGreater(len(linked), 30)
        self.assertEqual([name for name in linked if not (self.folder / name).is_file()], [])

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_every_figure_is_drawn(self):
        for script in self.figures.glob("*.gp"):
            svg = script.with_suffix(".svg").read_text()
            self.assertIn("</svg>", svg)
            self.assertTrue(script.with_suffix(".pdf").read_bytes().startswith(b"%PDF"))
            self.assertIn(f'id="{script.stem}"', self.text)
            self.assertIn(script.with_suffix(".pdf").name,
                          (self.figures / "main.tex").read_text())

    def test_printed_values_stand_on_the_figures(self):
        data = (self.figures / "tpla_fig3_speedup.dat").read_text()
        paper = [block for block in data.split("\n\n\n") if "| paper" in block.splitlines()[0]]
        values = sorted(line.split()[1] for block in paper for line in block.splitlines()
                        if not line.startswith("#"))
        self.assertEqual(values, ["1.79", "1.93", "2", "2"])

    def test_main_tex_includes_files_that_are_there(self):
        text = (self.figures / "main.tex").read_text()
        named = re.findall(r"\\(?:input|includegraphics(?:\[[^]]*\])?)\{([^}]+)\}", text)
        self.assertGreater(len(named), 20)
        for name in named:
            self.assertTrue((self.figures / name).exists(), name)

    def test_no_two_names_differ_in_a_hyphen_and_those_of_sections_end_in_all(self):
        names = [path.name for path in self.figures.iterdir()]
        self.assertEqual([name for name in names if name.startswith("early-exit")], [])
        self.assertEqual(len({name.replace("-", "_") for name in names}), len(names))
        own = [name for name in names if name.endswith("_all.svg")]
        self.assertGreater(len(own), 3)
        for name in own:
            self.assertIn(f"href=\"figures/{name}\"", self.text)

    def test_captions_have_code_and_no_backquotes(self):
        captions = re.findall(r"<figcaption>(.*?)</figcaption>", self.text, re.S)
        self.assertTrue(any("<code>full</code>" in caption for caption in captions))
        self.assertEqual([caption for caption in captions if "`" in caption], [])
        self.assertIn(r"\texttt{full}", (self.figures / "main.tex").read_text())

    def test_axes_of_the_grid_say_what_is_drawn(self):
        script = (self.figures / "tpla_speedup_grid.gp").read_text()
        self.assertIn('"TPLA over MLA, DeepSeek-V3"', script)
        self.assertIn('"TPLA over MLA, Kimi-K2"', script)
        self.assertRegex((self.figures / "maple_fig3_dataflow.gp").read_text(), r'set label "0" at 1,0 ')

    @unittest.skipUnless(shutil.which("pdflatex"), "no pdflatex here")
    def test_main_tex_compiles(self):
        with tempfile.TemporaryDirectory() as out:
            made = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error",
                                   f"-output-directory={out}", "main.tex"], cwd=self.figures,
                                  capture_output=True, text=True, errors="replace", timeout=240)
            self.assertEqual(made.returncode, 0, made.stdout[-2000:])


class OnePaper(InFolder):
    @nightly  # of the figures and the report, every change: reproduced.py made them, too
    def test_has_a_page_of_its_own_and_the_same_bytes_twice(self):
        for name in ("a", "b"):
            self.assertEqual(run("reproduce", "maple", "-o", self.folder / name).returncode, 0)
        for file in sorted((self.folder / "a").rglob("*")):
            if file.is_file():
                other = self.folder / "b" / file.relative_to(self.folder / "a")
                self.assertEqual(file.read_bytes(), other.read_bytes(), file)
        self.assertTrue((self.folder / "a/maple/index.html").exists())

    def without_gnuplot(self, paper):
        result = run("reproduce", paper, cwd=self.folder, env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("there is no gnuplot here", result.stderr)
        self.assertIn("index.html", result.stderr)
        folder = self.folder / "out/reproduce" / paper
        self.assertTrue("install gnuplot-nox" in (folder / "index.html").read_text())
        self.assertEqual(list((folder / "figures").glob("*.pdf")), [])
        self.assertEqual([script for script in (folder / "figures").glob("*.gp") if script.with_suffix(".svg").exists()], [])
        # What needs no gnuplot has the same bytes as in another process.
        same = [(file, reproduced.files() / paper / file.name) for file in folder.iterdir()
                if file.name not in ("figures", "index.html")]
        same += [(file, reproduced.files() / "figures" / file.name) for file in (folder / "figures").iterdir()
                 if file.name != "main.tex"]
        self.assertGreater(len(same), 10)
        for file, other in same:
            self.assertEqual(file.read_bytes(), other.read_bytes(), file)
        return folder

    def test_without_gnuplot_the_page_says_so_and_the_scripts_are_there(self):
        folder = self.without_gnuplot("maple")
        self.assertTrue((folder / "figures/maple_fig1_left.gp").exists())

    @nightly
    def test_without_gnuplot_the_drawings_of_the_sections_stay(self):
        folder = self.without_gnuplot("early-exit")
        self.assertTrue("<svg" in (folder / "index.html").read_text())
        self.assertTrue((folder / "figures/early_exit_fig1.gp").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
