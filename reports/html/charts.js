// This script draws the two interactive charts of `report html`: a metric over an axis, with a panel
// for each method where more than the axis and the method differs, and two metrics with the Pareto
// front of the points shown. No mark stands for several points. The reader chooses the axes, the
// panels and what colour means. Both charts follow the filters, and a click
// picks a point. Vega-Lite runs with its interpreter, so that the page's content security policy can
// forbid eval.
"use strict";
(() => {
  if (!globalThis.vega || explorer.data.metrics.length === 0) return;
  const { data, axes, state, onFront, el, select, checkbox, labelOf, valueOf, text, nameOf } = explorer;
  const OKABE_ITO = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7f7f7f"];
  const MANY = 2000; // above this number of points canvas draws faster than SVG elements
  const MOST = 20000; // points drawn at most; 100,000 points took 14 s and 0.9 GB
  const HIGHER = /throughput|goodput|_per_s$|max_batch|kv_capacity|slo_attainment|prefix_hit_rate|gpu_busy/;

  const maximize = (name) => data.objectives.find((o) => o.metric === name)?.maximize ?? HIGHER.test(name);
  const indexOf = (name) => data.metrics.findIndex((m) => m.name === name);
  const varied = data.metrics.map((m, i) => i).filter((i) => Array.isArray(data.metrics[i].values));
  const usual = data.objectives.map((o) => indexOf(o.metric)).filter((i) => i >= 0);
  const candidates = [...usual, ...varied, 0];
  const numericAxes = axes.map((c, i) => i).filter((i) => axes[i].numbers);
  // A number without a setting is derived from other columns.
  const derived = (c) => Boolean(c.numbers) && c.key === "";
  const longest = [...numericAxes].sort((a, b) => derived(axes[a]) - derived(axes[b]) || axes[b].labels.length - axes[a].labels.length);
  // An axis of names is a better choice for colours than an axis of numbers, and one of few numbers
  // than one of many, whose colours are a scale.
  const FEW = 12;
  const byColour = (...used) => {
    const fit = (c, i) => !used.includes(i) && c.labels.length <= FEW && !derived(c);
    const named = axes.findIndex((c, i) => fit(c, i) && !c.numbers);
    const few = named >= 0 ? named : axes.findIndex(fit);
    return few >= 0 ? few : axes.findIndex((c, i) => !used.includes(i) && c.numbers && !derived(c));
  };
  // Colours of lines are by the axis of few labels that tells most lines apart.
  function byLine(x, panel) {
    const labelsAtPlaces = (c) => {
      const known = new Set();
      for (let p = 0; p < data.points; ++p) known.add(`${panel < 0 ? 0 : axes[panel].at[p]} ${axes[x].at[p]} ${c.at[p]}`);
      return known.size;
    };
    const rest = axes.map((c, i) => i).filter((i) => i !== x && i !== panel && axes[i].labels.length <= FEW && !derived(axes[i]));
    const scores = new Map(rest.map((i) => [i, labelsAtPlaces(axes[i])]));
    return rest.sort((a, b) => scores.get(b) - scores.get(a))[0] ?? byColour(x, panel);
  }
  // Panels are by method, or by other names. A single further axis needs none, as it has colours.
  const MOST_PANELS = 24;
  function byPanel(x) {
    const rest = axes.map((c, i) => i).filter((i) => i !== x);
    if (rest.length === 0 || (rest.length === 1 && axes[rest[0]].labels.length <= FEW)) return -1;
    const named = rest.filter((i) => !axes[i].numbers && axes[i].labels.length <= MOST_PANELS)
      .sort((a, b) => axes[a].labels.length - axes[b].labels.length);
    return named.find((i) => axes[i].name === "method" || axes[i].key === "method.name") ?? named[0] ?? -1;
  }

  // What the command chose; the reader can change it.
  const chosen = (key) => (data.choice[key] === undefined ? -1 : axes.findIndex((c) => c.name === data.choice[key]));
  const given = (key, otherwise) => (chosen(key) >= 0 ? chosen(key) : otherwise);
  const curve = { metric: indexOf(data.choice.metric) >= 0 ? indexOf(data.choice.metric) : candidates[0], x: given("x", longest[0] ?? 0), colour: -1, panel: -1, log: false, logY: false };
  const scatter = { x: candidates[1] ?? candidates[0], y: candidates[0], colour: byColour(), logX: false, logY: false };
  curve.panel = given("panel", byPanel(curve.x));
  if (curve.panel === chosen("colour")) curve.panel = chosen("panel");
  curve.colour = given("colour", byLine(curve.x, curve.panel));
  // An axis is logarithmic by default as is_wide() of reports/render/axis.hpp says: from a factor of 16.
  const spread = (numbers) => {
    let [low, high] = [Infinity, 0]; // Math.min(...numbers) would fail with 100,000 arguments
    for (const n of numbers) if (n !== null) [low, high] = [Math.min(low, n), Math.max(high, n)];
    return low > 0 && high / low >= 16;
  };
  const allOf = (metric) => (Array.isArray(metric.values) ? metric.values : [metric.values]);
  scatter.logX = spread(allOf(data.metrics[scatter.x]));
  if (axes.length > 0) curve.log = Boolean(axes[curve.x].numbers) && spread(axes[curve.x].numbers);

  // Where there are more than MOST points, stepOf() says which are drawn: every n-th point, and every
  // point of the front.
  const stepOf = (rows) => Math.ceil(rows.length / MOST);
  function drawnRows() {
    const step = stepOf(state.rows);
    return step <= 1 ? state.rows : state.rows.filter((p, at) => at % step === 0 || onFront.has(p) || p === state.picked);
  }
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const titleOf = (metric) => [metric.name, `(${metric.unit === "1" ? "" : `${metric.unit}, `}${metric.class})`];

  function config() {
    const ink = css("--ink");
    const line = css("--line");
    return {
      background: css("--ground"), font: "system-ui, Arial, 'DejaVu Sans', sans-serif", view: { stroke: line },
      axis: { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 11, titleFontSize: 12 },
      legend: { labelColor: ink, titleColor: ink, orient: "bottom", columns: 4, labelLimit: 220, symbolOpacity: 1 }, aria: false,
    };
  }
  const byScale = (axis) => axis >= 0 && Boolean(axes[axis].numbers) && axes[axis].labels.length > FEW;
  // A label keeps its colour and shape under every filter.
  function colourOf(axis) {
    if (axis < 0) return { color: { value: OKABE_ITO[0] } };
    const c = axes[axis];
    if (byScale(axis)) return { color: { field: "c", type: "quantitative", title: c.unit ? `${c.name} (${c.unit})` : c.name,
      scale: { type: spread(c.numbers) ? "log" : "linear", scheme: "viridis", nice: false }, legend: { gradientLength: 200, tickCount: 5 } } };
    const domain = c.order.map((at) => c.labels[at] || "(none)");
    const range = domain.map((_, i) => OKABE_ITO[i % OKABE_ITO.length]);
    return {
      color: { field: "c", type: "nominal", title: c.name, scale: { domain, range } },
      shape: { field: "c", type: "nominal", title: c.name, scale: { domain, range: domain.map((_, i) => ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"][i % 6]) } },
    };
  }
  const colourLabel = (axis, p) => (axis < 0 ? "" : byScale(axis) ? axes[axis].numbers[axes[axis].at[p]] : labelOf(axes[axis], p) || "(none)");
  const pickedMark = { data: { name: "picked" }, mark: { type: "point", size: 260, strokeWidth: 3, filled: false, stroke: css("--ink"), shape: "circle" } };
  const quantity = (title, log, zero = false) => ({ type: "quantitative", title, 
    axis: { format: "~s", labelOverlap: true, labelExpr: "datum.value === 0 ? '0' : datum.label", tickCount: 6 },
    scale: log ? { type: "log", nice: false, padding: 14 } : { type: "linear", zero, nice: true } });

  // --- a metric over an axis ----------------------------------------------------------------------
  // True where each label of the axis has one label of the column, which then tells no lines apart.
  function follows(column, axis) {
    const first = [];
    return column.at.every((label, p) => (first[axis.at[p]] ??= label) === label);
  }
  function curveRows() {
    const metric = data.metrics[curve.metric];
    const axis = axes[curve.x];
    const others = axes.filter((c, i) => i !== curve.x && i !== curve.colour && i !== curve.panel && !derived(c) && !follows(c, axis));
    const rows = [];
    for (const p of drawnRows()) {
      const y = valueOf(metric, p) ?? null;
      const x = axis.numbers ? axis.numbers[axis.at[p]] : labelOf(axis, p) || "(none)";
      if (y === null || x === null || (curve.log && x <= 0) || (curve.logY && y <= 0)) continue;
      rows.push({ p, x, y, c: colourLabel(curve.colour, p), s: others.map((c) => c.at[p]).join(" "), picked: p === state.picked,
        f: curve.panel < 0 ? "" : `${axes[curve.panel].name} ${labelOf(axes[curve.panel], p) || "(none)"}`,
        lo: metric.low?.[p] ?? null, hi: metric.high?.[p] ?? null, t: `${nameOf(p)}: ${text(y, metric.unit)}` });
    }
    return rows;
  }
  function curveSpec() {
    const metric = data.metrics[curve.metric];
    const axis = axes[curve.x];
    const ticks = axis.numbers?.filter((n) => n !== null);
    const x = axis.numbers
      ? { ...quantity(axis.unit ? `${axis.name} (${axis.unit})` : axis.name, curve.log), field: "x" }
      : { field: "x", type: "nominal", title: axis.name, sort: axis.order.map((at) => axis.labels[at] || "(none)"), axis: { labelAngle: axis.labels.length > 6 ? -40 : 0 } };
    if (ticks && ticks.length <= 12) x.axis = { values: ticks, labelExpr: "'' + datum.value", labelOverlap: true };
    const panels = axes[curve.panel];
    const y = { ...quantity(panels ? null : titleOf(metric), curve.logY, true), field: "y" };
    const colour = colourOf(curve.colour);
    const layers = [{ mark: { type: "point", filled: true, size: 55, opacity: 0.95, cursor: "pointer" }, encoding: { x, y, ...colour, tooltip: { field: "t" } } }];
    if (axis.numbers) // a line between names would have no meaning
      layers.unshift({ mark: { type: "line", strokeWidth: 1.8, opacity: 0.8 }, encoding: { x, y, color: colour.color,
        detail: byScale(curve.colour) ? [{ field: "s" }, { field: "c" }] : { field: "s" } } });
    if (metric.low)
      layers.push({ transform: [{ filter: "isValid(datum.lo)" }], mark: { type: "rule", strokeWidth: 1.2, opacity: 0.7 }, encoding: { x, y: { field: "lo", type: "quantitative", title: y.title }, y2: { field: "hi" }, color: colour.color } });
    const limits = data.limits.filter((l) => l.metric === curve.metric).map((l) => ({ y: l.value, t: l.text }));
    if (limits.length > 0) {
      const at = { y: { field: "y", type: "quantitative" } };
      layers.push({ data: { values: limits }, mark: { type: "rule", strokeDash: [6, 4], color: css("--ink") }, encoding: at },
        { data: { values: limits }, mark: { type: "text", align: "left", baseline: "bottom", dx: 4, dy: -2, fontWeight: "bold", color: css("--ink") },
          encoding: { ...at, x: { value: 0 }, text: { field: "t" } } });
    }
    // A panel shows the picked point where it is its own, so that the mark is of the same data.
    layers.push({ mark: pickedMark.mark, transform: [{ filter: "datum.picked" }], encoding: { x, y: { field: "y", type: "quantitative" } } });
    if (!panels) return { data: { name: "points" }, layer: layers };
    const sort = panels.order.map((at) => `${panels.name} ${panels.labels[at] || "(none)"}`);
    const title = { text: titleOf(metric).join(" "), anchor: "start", fontSize: 12, offset: 8, color: css("--ink") };
    return { data: { name: "points" }, title, facet: { field: "f", type: "nominal", title: null, sort, header: { labelColor: css("--ink"), labelFontWeight: "bold" } },
      columns: panelColumns(), spec: { layer: layers, ...panelSize() } };
  }
  // Panels share one scale. As many stand side by side as have room.
  const boxWidth = () => Math.max(240, document.getElementById("curves-chart").clientWidth);
  const panelColumns = () => Math.max(1, Math.min(4, axes[curve.panel].labels.length, Math.floor(boxWidth() / 190)));
  function panelSize() {
    const width = Math.floor((boxWidth() - 70) / panelColumns()) - 24;
    return { width, height: Math.min(220, Math.max(130, Math.round(width * 0.6))) };
  }

  // --- two metrics and their front ------------------------------------------------------------------
  function scatterRows() {
    const [mx, my] = [data.metrics[scatter.x], data.metrics[scatter.y]];
    const rows = [];
    for (const p of drawnRows()) {
      const [x, y] = [valueOf(mx, p) ?? null, valueOf(my, p) ?? null];
      if (x === null || y === null || (scatter.logX && x <= 0) || (scatter.logY && y <= 0)) continue;
      rows.push({ p, x, y, c: colourLabel(scatter.colour, p), ok: !data.feasible || data.feasible[p] === 1,
        lox: mx.low?.[p] ?? null, hix: mx.high?.[p] ?? null, lo: my.low?.[p] ?? null, hi: my.high?.[p] ?? null,
        t: `${nameOf(p)}: ${text(x, mx.unit)}, ${text(y, my.unit)}` });
    }
    return rows;
  }
  // The points are sorted with the best x first. A point is on the front of the two metrics if no
  // earlier point has a y that is as good.
  function frontOf(rows) {
    const sx = maximize(data.metrics[scatter.x].name) ? -1 : 1;
    const sy = maximize(data.metrics[scatter.y].name) ? -1 : 1;
    const sorted = rows.filter((r) => r.ok).sort((a, b) => sx * (a.x - b.x) || sy * (a.y - b.y));
    const out = [];
    for (const row of sorted) if (out.length === 0 || sy * row.y < sy * out.at(-1).y) out.push({ x: row.x, y: row.y, p: row.p });
    return out;
  }
  function scatterSpec() {
    const [mx, my] = [data.metrics[scatter.x], data.metrics[scatter.y]];
    const sided = (m) => [m.name, `${titleOf(m)[1]}, ${maximize(m.name) ? "more" : "less"} is better`];
    const x = { ...quantity(sided(mx), scatter.logX), field: "x" };
    const y = { ...quantity(sided(my), scatter.logY), field: "y" };
    const colour = colourOf(scatter.colour);
    const plain = { x: { field: "x", type: "quantitative" }, y: { field: "y", type: "quantitative" } };
    const layers = [
      { data: { name: "front" }, mark: { type: "line", interpolate: maximize(mx.name) ? "step-before" : "step-after", strokeDash: [5, 3], strokeWidth: 1.6, color: css("--quiet") }, encoding: { ...plain, order: { field: "x", type: "quantitative" } } },
      { mark: { type: "point", filled: true, size: 50, cursor: "pointer" }, encoding: { x, y, ...colour, opacity: { condition: { test: "datum.ok", value: 0.85 }, value: 0.25 }, tooltip: { field: "t" } } },
      { data: { name: "front" }, mark: { type: "point", size: 130, filled: false, strokeWidth: 1.6, stroke: css("--ink"), shape: "circle", tooltip: false, cursor: "pointer" }, encoding: plain },
    ];
    const rule = { type: "rule", strokeWidth: 1, opacity: 0.5 };
    if (my.low) layers.push({ transform: [{ filter: "isValid(datum.lo)" }], mark: rule, encoding: { x: plain.x, y: { field: "lo", type: "quantitative" }, y2: { field: "hi" }, color: colour.color } });
    if (mx.low) layers.push({ transform: [{ filter: "isValid(datum.lox)" }], mark: rule, encoding: { x: { field: "lox", type: "quantitative" }, x2: { field: "hix" }, y: plain.y, color: colour.color } });
    layers.push({ ...pickedMark, encoding: plain });
    return { data: { name: "points" }, layer: layers };
  }

  // --- drawing ----------------------------------------------------------------------------------------
  const charts = [
    { id: "curves-chart", spec: curveSpec, rows: curveRows, front: null, view: null },
    { id: "pareto-chart", spec: scatterSpec, rows: scatterRows, front: frontOf, view: null },
  ].filter((chart) => chart.front || axes.length > 0);

  function fill(chart) {
    const rows = chart.rows();
    const front = chart.front ? chart.front(rows) : [];
    chart.view.data("points", rows);
    if (chart.front) chart.view.data("front", front).data("picked", rows.filter((r) => r.p === state.picked));
    chart.view.run();
    const box = document.getElementById(chart.id);
    const step = stepOf(state.rows);
    document.getElementById(`${chart.id}-note`).textContent = step > 1 ? `Of this many points one in ${step} is drawn, and all of the front.` : "";
    box.setAttribute("aria-label", `${box.dataset.title}: ${rows.length} points${chart.front ? `, ${front.length} on the front of these two` : ""}. The table below has the numbers.`);
  }
  function draw(chart) {
    const box = document.getElementById(chart.id);
    chart.view?.finalize();
    pickedMark.mark.stroke = css("--ink");
    const width = Math.max(240, box.clientWidth);
    const spec = { $schema: "", width, height: Math.min(340, Math.max(240, width * 0.55)), autosize: { type: "fit-x", contains: "padding" },
      datasets: { picked: [], front: [], points: [] }, config: config(), ...chart.spec() };
    delete spec.$schema;
    if (spec.facet) { // panels have a size of their own
      spec.autosize = { type: "pad", resize: true };
      delete spec.width;
      delete spec.height;
    }
    if (width < 500) spec.config.legend.columns = 2;
    const compiled = vegaLite.compile(spec).spec;
    chart.view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vegaInterpreter.expressionInterpreter, renderer: state.rows.length > MANY ? "canvas" : "svg", container: box, hover: false,
      logLevel: vega.Error,
    });
    chart.view.addEventListener("click", (event, item) => {
      if (item?.datum?.p !== undefined) explorer.pick(item.datum.p, false);
    });
    fill(chart);
  }
  const drawAll = () => charts.forEach(draw);

  async function save(chart, name) {
    const svg = await chart.view.toSVG();
    const link = el("a", { href: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })), download: `${name}.svg` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // --- controls -----------------------------------------------------------------------------------------
  const metricOptions = data.metrics.map((m, i) => [String(i), m.name]);
  const axisOptions = axes.map((c, i) => [String(i), c.name]);
  const panelOptions = [["-1", "(one panel)"], ...axisOptions.filter(([i]) => axes[i].labels.length <= MOST_PANELS)];
  const colourOptions = [["-1", "(one colour)"], ...axisOptions];
  function saveButton(chart, name) {
    const button = el("button", { type: "button", className: "button", id: `save-${name}`, textContent: "Save as SVG" });
    button.addEventListener("click", () => save(chart, name));
    return button;
  }
  function part(chart, title, name, ...controls) {
    const box = el("div", { id: chart.id, className: "chart", role: "img" });
    box.dataset.title = title;
    return el("section", { className: "chart-part", "aria-label": title }, el("h3", { textContent: title }),
      el("div", { className: "controls screen" }, ...controls, saveButton(chart, name)), box,
      el("p", { id: `${chart.id}-note`, className: "note" }));
  }
  const setting = (object, key, chart) => (value) => {
    object[key] = typeof value === "boolean" ? value : Number(value);
    draw(chart);
  };
  function build() {
    const parts = charts.map((chart) => (chart.front
      ? part(chart, "One metric against another", "pareto",
        select("across", "pareto-x", metricOptions, String(scatter.x), setting(scatter, "x", chart)),
        select("up", "pareto-y", metricOptions, String(scatter.y), setting(scatter, "y", chart)),
        select("colour", "pareto-colour", colourOptions, String(scatter.colour), setting(scatter, "colour", chart)),
        checkbox("log across", "pareto-log-x", scatter.logX, setting(scatter, "logX", chart)),
        checkbox("log up", "pareto-log-y", false, setting(scatter, "logY", chart)))
      : part(chart, "A metric over an axis", "curves",
        select("metric", "curves-metric", metricOptions, String(curve.metric), setting(curve, "metric", chart)),
        select("over", "curves-x", axisOptions, String(curve.x), setting(curve, "x", chart)),
        select("colour", "curves-colour", colourOptions, String(curve.colour), setting(curve, "colour", chart)),
        select("panels", "curves-panel", panelOptions, String(curve.panel), setting(curve, "panel", chart)),
        checkbox("log across", "curves-log", curve.log, setting(curve, "log", chart)),
        checkbox("log up", "curves-log-y", false, setting(curve, "logY", chart)))));
    document.getElementById("explorer-charts").append(...parts);
    document.querySelectorAll(".drawn").forEach((still) => { still.hidden = true; });
  }

  explorer.charts = charts;
  explorer.build();
  build();
  explorer.listeners.push({
    filtered: () => charts.forEach((chart) => (chart.view && (chart.view.renderer() === "canvas") === (state.rows.length > MANY) ? fill(chart) : draw(chart))),
    picked: () => charts.forEach(fill),
  });
  explorer.apply();
  if (onFront.size > 0) explorer.pick(data.front[0], false);
  document.addEventListener("themechange", drawAll);
  window.addEventListener("beforeprint", drawAll);
  window.addEventListener("afterprint", drawAll);
  let width = innerWidth;
  window.addEventListener("resize", () => {
    if (innerWidth !== width) drawAll();
    width = innerWidth;
  });
})();
// A page without Vega has no charts. It still has filters, the table and the picked point.
if (!explorer.charts) {
  explorer.build();
  explorer.apply();
  if (explorer.onFront.size > 0) explorer.pick(explorer.data.front[0], false);
}
