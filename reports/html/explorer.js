// This script is part of the pages of `report html`. It adds filters, the table of all points and
// the details of the picked point; charts.js adds charts where the page has Vega. The data have the
// form that reports/html/points_data.hpp describes. A page without scripts shows its static tables
// and figures.
"use strict";
const explorer = (() => {
  const data = JSON.parse(document.getElementById("points-data").textContent);
  const count = data.points;
  const onFront = new Set(data.front);
  const problems = new Map(data.problems);
  const axes = data.columns.map((column, index) => ({ ...column, index })).filter((c) => c.labels.length > 1);
  const listeners = [];
  const state = { rows: [], picked: null };

  // --- elements ---------------------------------------------------------------------------------
  function el(tag, properties = {}, ...children) {
    const out = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.includes("-") || name === "role" || name === "for") out.setAttribute(name, value);
      else out[name] = value;
    }
    out.append(...children);
    return out;
  }
  function select(label, id, options, chosen, change) {
    const box = el("select", { id }, ...options.map(([value, text]) => el("option", { value, textContent: text })));
    box.value = chosen;
    box.addEventListener("change", () => change(box.value));
    return el("label", { className: "field" }, el("span", { textContent: label }), box);
  }
  function checkbox(label, id, checked, change) {
    const box = el("input", { type: "checkbox", id, checked });
    box.addEventListener("change", () => change(box.checked));
    return el("label", { className: "check" }, box, label === "" ? "(none)" : label);
  }

  // --- values -----------------------------------------------------------------------------------
  const labelOf = (column, point) => column.labels[column.at[point]];
  const valueOf = (metric, point) => (Array.isArray(metric.values) ? metric.values[point] : metric.values);
  const number = (value) => String(Number(value.toPrecision(4)));
  const PREFIXES = [["Ti", 2 ** 40], ["Gi", 2 ** 30], ["Mi", 2 ** 20], ["Ki", 2 ** 10]];
  const TIMES = [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]];
  const COUNTS = [["P", 1e15], ["T", 1e12], ["G", 1e9], ["M", 1e6]];

  // text() rounds as display() of sim/base/display.hpp does.
  function text(value, unit) {
    if (value === null || value === undefined) return "";
    const size = Math.abs(value);
    if (unit === "s" && size > 0) {
      const [name, scale] = TIMES.find((t) => size >= t[1]) ?? TIMES[3];
      return `${number(value / scale)} ${name}`;
    }
    const prefix = unit === "B" ? PREFIXES.find((p) => size >= p[1]) : unit === "FLOP" ? COUNTS.find((p) => size >= p[1]) : null;
    if (prefix) return `${number(value / prefix[1])} ${prefix[0]}${unit}`;
    const plain = Number.isInteger(value) ? String(value) : number(value);
    return unit === "" || unit === "1" ? plain : `${plain} ${unit}`;
  }
  function withInterval(metric, point) {
    const middle = text(valueOf(metric, point), metric.unit);
    if (!metric.low || metric.low[point] === null) return middle;
    const [low, high] = [text(metric.low[point], metric.unit), text(metric.high[point], metric.unit)];
    const unit = / .*$/.exec(middle)?.[0] ?? "";
    const once = [middle, low, high].every((t) => t.endsWith(unit));
    if (unit === "" || !once) return `${middle} [${low}, ${high}]`;
    return `${middle.slice(0, -unit.length)} [${low.slice(0, -unit.length)}, ${high.slice(0, -unit.length)}]${unit}`;
  }
  // positionOf() is the number of a point in the tables and for `tiersim rerun`. The other functions
  // take the index of a point in the data.
  const positionOf = (point) => data.positions?.[point] ?? point;
  const commandOf = (point) => data.rerun[point].map((word) => data.words[word]).join(" ");
  const nameOf = (point) => axes.map((c) => `${c.name} ${labelOf(c, point) || "(none)"}`).join(", ") || `point ${positionOf(point)}`;

  // --- filters: each axis has a set of the labels that are shown --------------------------------
  const shown = axes.map((c) => new Set(c.labels.keys()));
  const only = { front: false, feasible: false };

  function apply() {
    state.rows = [];
    for (let p = 0; p < count; ++p) {
      if (only.front && !onFront.has(p)) continue;
      if (only.feasible && !data.feasible[p]) continue;
      if (axes.every((c, i) => shown[i].has(c.at[p]))) state.rows.push(p);
    }
    document.getElementById("shown-count").textContent =
      `${state.rows.length.toLocaleString("en")} of ${count.toLocaleString("en")} points ${data.whole ? `of this page (${data.whole.toLocaleString("en")} in all) ` : ""}shown`;
    listeners.forEach((listener) => listener.filtered());
  }

  function rangeFilter(column, i) {
    const options = column.order.map((at) => [String(at), column.labels[at] || "(none)"]);
    const ends = [0, column.order.length - 1];
    const change = (end) => (value) => {
      ends[end] = column.order.indexOf(Number(value));
      shown[i] = new Set(column.order.slice(Math.min(...ends), Math.max(...ends) + 1));
      apply();
    };
    return [select("from", `from-${i}`, options, options[0][0], change(0)),
      select("to", `to-${i}`, options, options.at(-1)[0], change(1))];
  }
  function choiceFilter(column, i) {
    return column.order.map((at) => checkbox(column.labels[at], `only-${i}-${at}`, true, (checked) => {
      if (checked) shown[i].add(at);
      else shown[i].delete(at);
      apply();
    }));
  }
  function buildFilters() {
    const form = el("form", { id: "filters", className: "screen", "aria-label": "Filters" });
    form.addEventListener("submit", (event) => event.preventDefault());
    const fill = () => {
      form.replaceChildren();
      axes.forEach((column, i) => {
        shown[i] = new Set(column.labels.keys());
        const inner = column.numbers && column.labels.length > 12 ? rangeFilter(column, i) : choiceFilter(column, i);
        form.append(el("fieldset", {}, el("legend", { textContent: column.name }), ...inner));
      });
      only.front = only.feasible = false;
      const rest = [];
      if (data.front.length > 0 && data.front.length < count)
        rest.push(checkbox("on the front only", "only-front", false, (on) => { only.front = on; apply(); }));
      if (data.feasible)
        rest.push(checkbox("within the constraints only", "only-feasible", false, (on) => { only.feasible = on; apply(); }));
      if (rest.length > 0) form.append(el("fieldset", {}, el("legend", { textContent: "points" }), ...rest));
      const reset = el("button", { type: "button", className: "button", id: "reset", textContent: "Show all" });
      reset.addEventListener("click", () => { fill(); apply(); document.getElementById("reset").focus(); });
      form.append(reset);
    };
    fill();
    return form;
  }

  // --- the table of all points -------------------------------------------------------------------
  const PAGE = 50;
  const table = { first: 0, column: -1, up: true, metrics: data.shown };

  function compare(a, b) {
    if (table.column < 0) return a - b;
    const sign = table.up ? 1 : -1;
    if (table.column < axes.length) {
      const c = axes[table.column];
      return sign * (c.rank[c.at[a]] - c.rank[c.at[b]]) || a - b;
    }
    const metric = data.metrics[table.metrics[table.column - axes.length]];
    const x = valueOf(metric, a) ?? null;
    const y = valueOf(metric, b) ?? null;
    if (x === null || y === null) return (x === null) - (y === null) || a - b; // empty values come last
    return sign * (x - y) || a - b;
  }
  function headOf(title, column, right) {
    const button = el("button", { type: "button", textContent: title });
    const head = el("th", { scope: "col", className: right ? "n" : "" }, button);
    if (column === table.column) head.setAttribute("aria-sort", table.up ? "ascending" : "descending");
    button.addEventListener("click", () => {
      table.up = column === table.column ? !table.up : true;
      table.column = column;
      table.first = 0;
      drawTable();
      document.querySelector(`#explorer-points thead th:nth-child(${column + 2}) button`).focus();
    });
    return head;
  }
  function rowOf(point) {
    const name = el("button", { type: "button", className: "pick", textContent: `${onFront.has(point) ? "★ " : ""}${positionOf(point)}` });
    name.setAttribute("aria-label", `Show point ${positionOf(point)}${onFront.has(point) ? ", on the front" : ""}`);
    name.addEventListener("click", () => pick(point, true));
    const row = el("tr", {}, el("th", { scope: "row" }, name),
      ...axes.map((c) => el("td", { className: c.numbers ? "n" : "", textContent: labelOf(c, point) })));
    if (problems.has(point))
      row.append(el("td", { colSpan: Math.max(1, table.metrics.length), className: "quiet", textContent: problems.get(point) }));
    else
      row.append(...table.metrics.map((m) => el("td", { className: "n", textContent: withInterval(data.metrics[m], point) })));
    row.dataset.point = point;
    if (point === state.picked) row.setAttribute("aria-current", "true");
    return row;
  }
  function drawTable() {
    const sorted = [...state.rows].sort(compare);
    const rows = sorted.slice(table.first, table.first + PAGE);
    const box = document.getElementById("explorer-points");
    box.tHead.replaceChildren(el("tr", {}, el("th", { scope: "col", textContent: "point" }),
      ...axes.map((c, i) => headOf(c.name, i, Boolean(c.numbers))),
      ...table.metrics.map((m, i) => headOf(`${data.metrics[m].name} (${data.metrics[m].class})`, axes.length + i, true))));
    box.tBodies[0].replaceChildren(...rows.map(rowOf));
    const last = Math.min(table.first + PAGE, sorted.length);
    document.getElementById("page-of").textContent = sorted.length === 0 ? "No point is shown."
      : `Rows ${table.first + 1} to ${last} of ${sorted.length}; ★ is on the front.`;
    document.getElementById("previous").disabled = table.first === 0;
    document.getElementById("next").disabled = last === sorted.length;
  }
  function buildTable() {
    axes.forEach((c) => { // labels that are numbers sort by value, others as text
      const order = c.numbers ? c.order : [...c.labels.keys()].sort((a, b) => (c.labels[a] < c.labels[b] ? -1 : 1));
      c.rank = [];
      order.forEach((label, at) => { c.rank[label] = at; });
    });
    const turn = (id, title, by) => {
      const button = el("button", { type: "button", className: "button", id, textContent: title });
      button.addEventListener("click", () => { table.first += by; drawTable(); });
      return button;
    };
    const caption = el("caption", { id: "explorer-points-caption" },
      el("span", { textContent: `${data.whole ? "All points of this page" : "All points"}. A button in a head sorts, one in a row shows the point.` }));
    const metrics = el("details", { className: "screen" }, el("summary", { textContent: "Columns" }),
      el("div", { className: "checks" }, ...data.metrics.map((metric, m) => {
        const box = checkbox(metric.name, `column-${m}`, table.metrics.includes(m), (on) => {
          table.metrics = data.metrics.map((_, i) => i).filter((i) => (i === m ? on : table.metrics.includes(i)));
          table.column = -1;
          drawTable();
        });
        box.title = metric.meaning;
        return box;
      })));
    return [metrics,
      el("div", { className: "scroll", role: "region", tabIndex: 0, "aria-labelledby": "explorer-points-caption" },
        el("table", { id: "explorer-points" }, caption, el("thead"), el("tbody"))),
      el("div", { className: "turn" }, el("span", { id: "page-of", role: "status" }), turn("previous", "Previous", -PAGE), turn("next", "Next", PAGE))];
  }

  // --- the picked point ----------------------------------------------------------------------------
  function copyButton(source) {
    const button = el("button", { type: "button", className: "button screen", id: "copy", textContent: "Copy" });
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch { // without permission to copy, the text is selected for the keyboard
        getSelection().selectAllChildren(source);
        button.textContent = "Selected";
      }
    });
    return button;
  }
  function configurationOf(point) {
    if (!data.config || !data.changed[point]) return null;
    const out = JSON.parse(JSON.stringify(data.config));
    for (const [path, value] of Object.entries(data.changed[point])) {
      const keys = path.split("/").slice(1).map((k) => k.replace(/~1/g, "/").replace(/~0/g, "~"));
      const last = keys.pop();
      let at = out;
      for (const key of keys) at = at[key] ??= {};
      if (value === null) delete at[last];
      else at[last] = value;
    }
    return out;
  }
  function facts(pairs) {
    return el("dl", {}, ...pairs.map(([name, value]) => el("div", {}, el("dt", { textContent: name }), el("dd", { textContent: value }))));
  }
  function pick(point, focus) {
    state.picked = point;
    const panel = document.getElementById("picked");
    const command = el("code", { id: "rerun-command", textContent: commandOf(point) });
    const settings = data.columns.map((c) => [c.key ? `${c.name} (${c.key})` : c.name, labelOf(c, point) || "(none)"]);
    const metrics = el("table", {}, el("caption", { textContent: "Metrics" }),
      el("thead", {}, el("tr", {}, ...["metric", "value", "class", "meaning"].map((t, i) => el("th", { scope: "col", textContent: t, className: i === 1 ? "n" : "" })))),
      el("tbody", {}, ...data.metrics.filter((m) => (valueOf(m, point) ?? null) !== null).map((m) => el("tr", {},
        el("th", { scope: "row", textContent: m.name }), el("td", { className: "n", textContent: withInterval(m, point) }),
        el("td", { textContent: m.class }), el("td", { className: "long", textContent: m.meaning })))));
    const parts = [el("h3", { id: "picked-name", tabIndex: -1, textContent: `Point ${positionOf(point)}: ${nameOf(point)}` })];
    if (problems.has(point)) parts.push(el("p", { className: "bad", textContent: problems.get(point) }));
    if (data.feasible && !data.feasible[point]) parts.push(el("p", { className: "warn", textContent: "Outside of the constraints." }));
    parts.push(el("p", { textContent: "Run it again:" }), el("div", { className: "command" }, el("pre", {}, command), copyButton(command)),
      facts([...settings, ["run id", data.run_ids[point] || "(none)"], ["on the front", onFront.has(point) ? "yes" : "no"]]),
      el("div", { className: "scroll" }, metrics));
    const config = configurationOf(point);
    if (config) parts.push(el("details", {}, el("summary", { textContent: "Whole configuration" }), el("pre", { tabIndex: 0, textContent: JSON.stringify(config, null, 2) })));
    panel.replaceChildren(...parts);
    document.querySelectorAll("#explorer-points tbody tr").forEach((row) => {
      if (Number(row.dataset.point) === point) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    });
    listeners.forEach((listener) => listener.picked());
    if (focus) document.getElementById("picked-name").focus();
  }

  function build() {
    document.querySelectorAll(".replaced").forEach((part) => { part.hidden = true; });
    document.querySelectorAll(".scripted").forEach((part) => { part.hidden = false; });
    document.getElementById("explorer-filters").append(buildFilters(), el("p", { id: "shown-count", role: "status" }));
    document.getElementById("explorer-table").append(...buildTable());
    listeners.push({ filtered() { table.first = 0; drawTable(); }, picked() {} });
  }

  return { data, axes, state, onFront, el, select, checkbox, labelOf, valueOf, text, nameOf, pick, build, apply, listeners };
})();
