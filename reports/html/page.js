// This script is part of every page. It makes tables sortable, adds the switch of colours and
// unfolds folded parts for printing. A page without scripts shows everything that it holds: the
// script itself creates every control that needs it.
"use strict";
(() => {
  // UNITS has the factor of each unit, so that "1.2 s" sorts above "12 ms" and "32K" above "4K".
  const UNITS = {
    ps: 1e-12, ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600,
    k: 1e3, K: 1024, M: 1048576, G: 1073741824, B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12,
    KiB: 1024, MiB: 1048576, GiB: 1073741824, TiB: 1099511627776,
  };
  const NUMBER = /^([-+−]?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s*([a-zA-Zµ]*)/;

  // quantity() is the number that a cell begins with, or null.
  function quantity(text) {
    const match = NUMBER.exec(text);
    if (!match) return null;
    const value = Number(match[1].replace(/,/g, "").replace("−", "-"));
    return value * (UNITS[match[2]] ?? 1);
  }

  // Empty cells and dashes stay at the end in both directions. Numbers come before text. Equal rows
  // keep their order.
  function sorted(rows, column, sign) {
    const keyed = rows.map((row, at) => {
      const text = row.cells[column].textContent.trim();
      const empty = text === "" || text === "-" || text === "—";
      return { row, at, text, empty, value: empty ? null : quantity(text) };
    });
    keyed.sort((a, b) => {
      if (a.empty !== b.empty) return a.empty ? 1 : -1;
      if ((a.value === null) !== (b.value === null)) return a.value === null ? 1 : -1;
      const order = a.value !== null ? a.value - b.value : a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
      return order !== 0 ? sign * order : a.at - b.at;
    });
    return keyed.map((key) => key.row);
  }

  function makeSortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const body = table.tBodies[0];
        body.append(...sorted([...body.rows], column, up ? 1 : -1));
      });
    });
  }

  function addThemeSwitch() {
    const root = document.documentElement;
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button screen";
    button.id = "theme";
    const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const show = () => {
      button.textContent = dark() ? "Light colours" : "Dark colours";
      document.dispatchEvent(new CustomEvent("themechange", { detail: { dark: dark() } }));
    };
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      show();
    });
    system.addEventListener("change", show);
    document.querySelector("body > header").append(button);
    show();
  }

  // The Tab key skips a box whose content needs no scrolling.
  function tendScrollBoxes() {
    const tend = (box) => {
      if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    };
    const watch = new ResizeObserver((entries) => entries.forEach((entry) => tend(entry.target)));
    document.querySelectorAll(".scroll, pre").forEach((box) => watch.observe(box));
  }

  function unfoldForPrint() {
    let folded = [];
    window.addEventListener("beforeprint", () => {
      folded = [...document.querySelectorAll("details:not([open])")];
      folded.forEach((part) => { part.open = true; });
    });
    window.addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
  }

  // A link to a place in a folded part unfolds that part.
  function openTarget() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target && target.closest("details"); part; part = part.parentElement.closest("details"))
      part.open = true;
  }

  document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  addThemeSwitch();
  tendScrollBoxes();
  unfoldForPrint();
  window.addEventListener("hashchange", openTarget);
  openTarget();
})();
