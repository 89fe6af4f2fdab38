"""The page of `tiersim report html` in a headless Chromium: report_html_test.py PROGRAM SOURCE_FOLDER.
What needs Chromium, or the Vega-Lite that a build fetches, is skipped by name without it."""
import functools
import html.parser
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import chromium
from program import MAPLE, PROGRAM, SOURCE, InFolder, run

CONTEXTS, METHODS = (8192, 16384, 32768), ("maple", "quest", "sparq")
VEGA = os.environ.get("TIERSIM_VEGA_BUNDLE") or next(
    (str(at / "share/tiersim/vega.js") for at in pathlib.Path(PROGRAM).parents if (at / "share/tiersim/vega.js").is_file()), None)
needs_browser = unittest.skipUnless(chromium.PROGRAM, chromium.MISSING)
needs_vega = unittest.skipUnless(VEGA, "the build fetched no Vega-Lite")


class Outline(html.parser.HTMLParser):
    """Ids, references and nesting of a page."""
    EMPTY = {"meta", "link", "br", "input", "img", "hr"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.ids, self.external, self.open, self.wrong, self.inside_svg = [], [], [], [], 0
        self.links, self.handlers = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name == "style" or name.startswith("on"):
                self.handlers.append(name)
            if name in ("src", "href", "xlink:href") and not value.startswith(("#", "data:")):
                self.external.append(value)
            if name == "href" and value.startswith("#"):
                self.links.append(value[1:])
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@functools.cache
def make_pages():
    """Nine points of three contexts and three methods, as records of `run`, and their pages; they are kept
    until this process ends."""
    folder = tempfile.TemporaryDirectory()
    home = pathlib.Path(folder.name)
    sources = []
    for context in CONTEXTS:
        for method in METHODS:
            base = SOURCE / f"configs/scenarios/methods/llama3_8b_{method}.yaml"
            record = home / f"{method} <&{context}>.json"
            # Without the fits of a calibration, which take most of the time of reading a record.
            made = run("run", base, "--set", f"step.context={context}", "--set", f"name={method} <b>&{context}", "--set",
                       "system.gpu.calibration=none", "--json")
            if made.returncode != 0:
                raise AssertionError(made.stderr)
            record.write_text(made.stdout)
            sources.append(record)
    for name, more in (("page", ()), ("still", ("--still",))):
        made = run("report", "html", *sources, "-o", home / f"{name}.html", "--title", "Nine <points> & more", *more)
        if made.returncode != 0:
            raise AssertionError(made.stderr)
    return folder, home, sources


class Pages(InFolder):
    @classmethod
    def setUpClass(cls):
        _, cls.home, cls.sources = make_pages()
        cls.page, cls.still = cls.home / "page.html", cls.home / "still.html"


class Files(Pages):
    def test_it_is_well_formed_and_refers_to_nothing_else(self):
        for path in (self.page, self.still):
            outline = Outline(path.read_text())
            self.assertEqual((outline.wrong, outline.open, outline.external, outline.handlers), ([], [], [], []))
            self.assertEqual(len(outline.ids), len(set(outline.ids)))
            self.assertEqual([link for link in outline.links if link not in outline.ids], [])

    def test_names_are_escaped_once(self):
        text = self.still.read_text()
        self.assertIn("<title>Nine &lt;points&gt; &amp; more</title>", text)
        self.assertIn("maple &lt;b&gt;&amp;8192", text)
        self.assertNotIn("<b>", text)
        self.assertNotIn("&amp;lt;", text)

    def test_it_has_every_run_id_and_command_and_the_classes(self):
        text = self.still.read_text()
        data = json.loads(re.search(r'<script type="application/json" id="points-data">(.*?)</script>', text, re.S)[1])
        self.assertEqual(data["points"], 9)
        for at, source in enumerate(self.sources):
            record = json.loads(source.read_text())
            self.assertEqual(data["run_ids"][at], record["provenance"]["run_id"])
            throughput = next(m for m in data["metrics"] if m["name"] == "throughput_tokens_per_s")
            exact = record["results"]["metrics"]["throughput_tokens_per_s"]
            self.assertAlmostEqual(throughput["values"][at], exact["value"], delta=5e-7 * exact["value"])  # 7 digits
            self.assertIn(record["provenance"]["run_id"][:12], text)
        self.assertEqual(throughput["class"], exact["class"])
        self.assertIn(f'throughput_tokens_per_s ({exact["class"]})', text)

    def test_the_same_sources_give_the_same_bytes(self):
        again = self.folder / "again.html"
        run("report", "html", *self.sources, "-o", again, "--title", "Nine <points> & more", "--still")
        self.assertEqual(again.read_bytes(), self.still.read_bytes())

    def test_mistakes(self):
        self.expect_failure(run("report", "html", MAPLE), 2, "--output")
        self.expect_failure(run("report", "html", self.folder / "none.yaml", "-o", self.folder / "p.html"), 3, "none.yaml")
        self.expect_failure(run("report", "html", MAPLE, "-o", self.folder / "no/p.html"), 2, "no")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_no_output_replaces_a_source_or_a_store(self):
        record, store = self.folder / "r.json", self.folder / "s.svg"
        record.write_bytes(self.sources[0].read_bytes())
        store.write_bytes(b"SQLite format 3\0" + bytes(84))
        link = self.folder / "link.html"
        link.symlink_to(record)
        before = {path: path.read_bytes() for path in (record, store)}
        for output in (record, link):
            self.expect_failure(run("report", "html", record, "-o", output), 2, "one of the files that are read")
        self.expect_failure(run("report", "bottleneck", record, "--figure", record), 2, "one of the files that are read")
        for arguments in (["report", "html", record, "-o", store], ["report", "bottleneck", record, "--figure", store],
                          ["report", "pareto", record, "--figure", store], ["run", MAPLE, "-o", store],
                          ["run", MAPLE, "--trace", store], ["reproduce", "maple", "--no-files", "--trace", store]):
            self.expect_failure(run(*arguments), 2, "store of sweeps")
        self.assertEqual({path: path.read_bytes() for path in (record, store)}, before)
        self.assertEqual(len(list(self.folder.iterdir())), 3)

    def test_run_does_not_replace_its_configuration(self):
        config = self.folder / "c.yaml"
        config.write_bytes(MAPLE.read_bytes())
        self.expect_failure(run("run", config, "-o", config), 2, "one of the files that are read")
        self.assertEqual(config.read_bytes(), MAPLE.read_bytes())


@needs_browser
class Still(Pages):
    def test_it_is_whole_without_scripts(self):
        with chromium.Chromium() as browser:
            page = browser.open(self.still, scripts=False)
            page.call("Emulation.setScriptExecutionDisabled", value=False)  # for the questions below
            self.assertEqual(page.run("document.querySelectorAll('.replaced tbody tr').length"), 9)
            self.assertTrue(page.run("document.querySelectorAll('figure svg').length > 0 || document.querySelectorAll('.drawn p').length > 0"))
            self.assertEqual(page.run("document.querySelectorAll('button').length"), 0)
            self.assertEqual(page.run("[...document.querySelectorAll('.scripted')].every((e) => e.hidden)"), True)
            self.assertEqual((page.complaints, page.requests), ([], [page.url]))

    def test_tables_sort_and_colours_switch_without_vega(self):
        with chromium.Chromium() as browser:
            page = browser.open(self.still)
            page.until("document.querySelectorAll('#explorer-points tbody tr').length === 9")
            column = "[...document.querySelectorAll('#explorer-points tbody tr')].map((r) => explorer.valueOf(explorer.data.metrics[explorer.data.shown[0]], Number(r.dataset.point)))"
            head = f"#explorer-points thead th:nth-child({2 + page.run('explorer.axes.length')})"
            page.click(head + " button")
            self.assertEqual(page.run(f"document.querySelector('{head}').getAttribute('aria-sort')"), "ascending")
            values = page.run(column)
            self.assertEqual(values, sorted(values))
            page.press("Enter")  # the button keeps the focus
            self.assertEqual(page.run(f"document.querySelector('{head}').getAttribute('aria-sort')"), "descending")
            self.assertEqual(page.run(column), sorted(values, reverse=True))
            light = page.run("getComputedStyle(document.body).backgroundColor")
            page.click("#theme")
            self.assertNotEqual(page.run("getComputedStyle(document.body).backgroundColor"), light)
            self.assertEqual(page.complaints, [])


@needs_browser
@needs_vega
class Interactive(Pages):
    def open(self, browser, **options):
        page = browser.open(self.page, **options)
        page.until("document.querySelectorAll('.chart svg, .chart canvas').length === explorer.charts.length")
        return page

    def test_it_draws_filters_picks_and_saves_without_network_or_complaint(self):
        with chromium.Chromium() as browser:
            page = self.open(browser)
            self.assertTrue(page.run("[...document.querySelectorAll('.drawn')].every((e) => e.hidden)"))
            page.click("#filters input[type=checkbox]")
            page.until("document.getElementById('shown-count').textContent.startsWith('8 of 9')")
            self.assertEqual(page.run("document.querySelectorAll('#explorer-points tbody tr').length"), 8)
            self.assertEqual(page.run("explorer.charts.at(-1).view.data('points').length"), 8)
            page.click("#reset")
            page.until("document.getElementById('shown-count').textContent.startsWith('9 of 9')")
            # a click on a mark of the chart
            place = page.run("""(() => { const box = document.getElementById('pareto-chart');
                box.scrollIntoView({block: 'center', behavior: 'instant'});
                const want = explorer.state.picked === 0 ? 1 : 0;
                const marks = [...box.querySelectorAll('path')].filter((m) => m.__data__?.datum?.p === want);
                const r = marks[0].getBoundingClientRect(); return [want, r.x + r.width / 2, r.y + r.height / 2]; })()""")
            page.click_at(*place[1:])
            picked = page.until("(explorer.state.picked ?? -1) >= 0 && [explorer.state.picked]")[0]
            self.assertEqual(picked, place[0])
            command = page.run("document.getElementById('rerun-command').textContent")
            self.assertIn("tiersim", command)
            self.assertIn(json.loads(self.sources[picked].read_text())["provenance"]["run_id"],
                          page.run("document.getElementById('picked').textContent"))
            svg = page.run("explorer.charts.at(-1).view.toSVG()")
            self.assertTrue(svg.startswith("<svg"), svg[:40])
            browser.call("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(self.folder)})
            page.click("#save-pareto")
            page.until("true")
            saved = self.folder / "pareto.svg"
            for _ in range(100):
                if saved.exists() and saved.stat().st_size > 0:  # the browser creates it before it writes
                    break
                page.run("new Promise((done) => setTimeout(done, 50))")
            self.assertIn("<svg", saved.read_text()[:200])
            self.assertEqual(page.complaints, [])
            self.assertEqual([url for url in page.requests if not url.startswith("blob:")], [page.url])

    def test_narrow_dark_and_print(self):
        with chromium.Chromium() as browser:
            for media in ((), (("prefers-color-scheme", "dark"),)):
                page = self.open(browser, width=400, media=media)
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 400)
                self.assertEqual(page.complaints, [])
            self.assertEqual(page.run("document.getElementById('theme').textContent"), "Light colours")
            pdf = page.pdf()
            self.assertTrue(pdf.startswith(b"%PDF"))
            self.assertGreater(len(pdf), 10000)

    def test_the_keyboard_reaches_the_content_first_and_picks_a_point(self):
        with chromium.Chromium() as browser:
            page = self.open(browser)
            page.press("Tab")
            self.assertEqual(page.run("document.activeElement.className"), "skip")
            page.press("Tab")
            self.assertEqual(page.run("document.activeElement.id"), "theme")
            page.press("Tab")
            self.assertTrue(page.run("Boolean(document.activeElement.closest('nav'))"))
            self.assertNotEqual(page.run("getComputedStyle(document.activeElement).outlineStyle"), "none")
            page.run("document.querySelectorAll('.pick')[3].focus()")
            page.press("Enter")
            self.assertEqual(page.run("[explorer.state.picked, document.activeElement.id]"), [3, "picked-name"])

    def test_every_control_has_a_name(self):
        with chromium.Chromium() as browser:
            page = self.open(browser)
            nameless = page.run("[...document.querySelectorAll('button, select, input')].filter((e) => "
                                "!(e.textContent.trim() && e.tagName === 'BUTTON') && !e.labels?.length && !e.getAttribute('aria-label')).length")
            self.assertEqual(nameless, 0)
            self.assertEqual(page.run("['header', 'main', 'nav[aria-label]'].map((s) => document.querySelectorAll(s).length)"), [1, 1, 1])
            self.assertTrue(page.run("[...document.querySelectorAll('th')].every((h) => h.scope)"))


SPEC = """
schema: tiersim.sweep/v1
name: methods
scenario: scenarios/maple/llama2_7b_maple.yaml
reading: analytic
axes:
  - {key: step.context, values: [1024, 2048, 4096, 8192]}
  - {key: step.batch, values: [1, 2, 8]}
  - name: method
    variants:
      - {label: MAPLE}
      - {label: dense pool, scenario: scenarios/maple/llama2_7b_dense_pool.yaml}
"""


class ChartsOfASweep(InFolder):
    """24 points of four contexts, three batches and two methods."""

    def setUp(self):
        super().setUp()
        (self.folder / "spec.yaml").write_text(SPEC)
        self.assertEqual(run("sweep", "spec.yaml", "-o", "points.db", cwd=self.folder).returncode, 0)

    def page(self, *options):
        made = run("report", "html", "points.db", "-o", "page.html", *options, cwd=self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        return self.folder / "page.html"

    def test_a_still_chart_has_a_panel_for_each_method_and_the_chosen_axes(self):
        text = self.page("--still").read_text()
        for title in ("method MAPLE", "method dense pool", "batch 1", "batch 2", "batch 8"):
            self.assertEqual(text.count(f">{title}</text>"), 1, title)
        self.assertNotIn("median", text)
        text = self.page("--still", "--x", "batch", "--y", "kv_footprint", "--by", "method", "--panel", "context").read_text()
        for title in ("method MAPLE", "method dense pool", "context 1024", "context 8192"):
            self.assertEqual(text.count(f">{title}</text>"), 1, title)
        self.assertIn("kv_footprint_bytes over batch", text)

    def test_mistakes_in_the_choice(self):
        for options, expected in ((("--x", "method"), "'method' is no numeric column"), (("--x", "contxt"), "did you mean 'context'?"),
                                  (("--y", "thruput"), "--y: "), (("--panel", "methd"), "did you mean 'method'?")):
            self.expect_failure(run("report", "html", "points.db", "-o", "page.html", *options, cwd=self.folder), 2, expected)

    @needs_browser
    @needs_vega
    def test_the_reader_chooses_axes_panels_and_colours(self):
        def choice(page):
            return [page.run(f"document.getElementById('curves-{of}').selectedOptions[0].textContent") for of in ("metric", "x", "colour", "panel")]

        def choose(page, of, name):
            page.run(f"(() => {{ const s = document.getElementById('curves-{of}'); s.value = [...s.options].find((o) => o.textContent === '{name}').value; "
                     "s.dispatchEvent(new Event('change')); })()")

        def panels_and_marks(page):
            page.until("document.querySelectorAll('#curves-chart svg').length === 1")
            return [page.run("document.querySelectorAll('#curves-chart g.role-scope.cell > g').length"),
                    page.run("[...document.querySelectorAll('#curves-chart .mark-symbol.role-mark path')].filter((m) => m.__data__?.datum?.p !== undefined).length")]

        with chromium.Chromium() as browser:
            page = browser.open(self.page())
            page.until("document.querySelectorAll('.chart svg').length === 2")
            self.assertEqual(choice(page)[1:], ["context", "batch", "method"])
            self.assertEqual(panels_and_marks(page), [2, 24 + (page.run("explorer.state.picked") is not None)])
            choose(page, "panel", "batch")
            self.assertEqual(panels_and_marks(page)[0], 3)
            choose(page, "panel", "(one panel)")
            choose(page, "x", "batch")
            choose(page, "colour", "method")
            choose(page, "metric", "kv_footprint_bytes")
            self.assertEqual(panels_and_marks(page), [0, 24 + (page.run("explorer.state.picked") is not None)])
            self.assertEqual(choice(page), ["kv_footprint_bytes", "batch", "method", "(one panel)"])
            self.assertEqual(page.complaints, [])
            page = browser.open(self.page("--x", "batch", "--y", "kv_footprint", "--by", "method", "--panel", "context"))
            page.until("document.querySelectorAll('.chart svg').length === 2")
            self.assertEqual(choice(page), ["kv_footprint_bytes", "batch", "method", "context"])
            self.assertEqual(panels_and_marks(page)[0], 4)
            self.assertEqual(page.complaints, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
