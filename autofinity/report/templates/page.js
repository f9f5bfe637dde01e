"use strict";
(() => {
  const settings = {
    displaylogo: false, responsive: true,
    // Named one by one: a later plotly may add a button that leads to the net.
    modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
  };
  const drawn = (shown) => {
    for (const source of document.querySelectorAll("script[data-plot]")) {
      const place = document.getElementById(source.dataset.plot);
      const folded = place.closest("details");
      if (place.childElementCount || (folded && !folded.open && !shown)) continue;
      const figure = JSON.parse(source.textContent);
      Plotly.newPlot(place, figure.data, figure.layout, settings);
    }
  };
  drawn(false);

  const plots = () => document.querySelectorAll(".js-plotly-plot");
  for (const each of document.querySelectorAll("details"))
    each.addEventListener("toggle", () => drawn(false));
  // On paper everything is unfolded, and as wide as the paper.
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details:not([open])")) {
      each.open = true;
      each.dataset.folded = "";
    }
    drawn(true);
    for (const plot of plots()) Plotly.relayout(plot, { width: 1000 });
  });
  addEventListener("afterprint", () => {
    for (const each of document.querySelectorAll("details[data-folded]")) {
      each.open = false;
      delete each.dataset.folded;
    }
    for (const plot of plots()) Plotly.relayout(plot, { width: null, autosize: true });
  });

  const key = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
  };
  const order = (one, other) =>
    typeof one === "number" && typeof other === "number"
      ? one - other : String(one).localeCompare(String(other));
  for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0];
    [...body.rows].forEach((row, number) => { row.dataset.number = number; });
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      heading.addEventListener("click", () => {
        const up = heading.getAttribute("aria-sort") !== "ascending";
        for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].sort(
          (one, other) => (up ? 1 : -1) * order(key(one, column), key(other, column)));
        body.append(...rows);
      });
    });
  }

  const dim = (name, kept) => {
    const plot = document.getElementById(name);
    if (!plot || !plot.data) return;
    const all = kept.size === plot.data.reduce((sum, trace) => sum + trace.customdata.length, 0);
    const selected = plot.data.map((trace) => all ? null
      : trace.customdata.flatMap((row, at) => kept.has(row) ? [at] : []));
    Plotly.restyle(plot, { selectedpoints: selected });
  };
  for (const form of document.querySelectorAll(".filters")) {
    const whole = form.closest(".table");
    const rows = [...whole.querySelector("tbody").rows];
    const filtered = () => {
      const kept = new Set();
      for (const row of rows) {
        const fits = [...form.querySelectorAll("[data-column]")].every((field) => {
          const text = row.cells[Number(field.dataset.column)].textContent;
          return !field.value || (field.type === "search"
            ? text.toLowerCase().includes(field.value.toLowerCase()) : text === field.value);
        });
        row.hidden = !fits;
        if (fits) kept.add(Number(row.dataset.number));
      }
      form.querySelector("output").textContent = `${kept.size} of ${rows.length} rows`;
      if (whole.dataset.plot) dim(whole.dataset.plot, kept);
    };
    form.addEventListener("input", filtered);
    form.addEventListener("submit", (event) => event.preventDefault());
    filtered();
  }
})();
