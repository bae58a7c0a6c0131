// Where each number comes from: its cell is a button that opens a panel with the cells of the pipeline that made it. What
// is known of these an export has put into the page; without that only their labels are shown. Text from the pipeline
// goes into the page as text only.
const read = (id) => JSON.parse(document.getElementById(id)?.textContent || "null");
const sources = read("cwm-sources") || [];
const provenance = read("cwm-provenance");
const known = new Map(Object.entries(provenance?.cells ?? {}));
// What is the same in all cells of a stage stands with the stage.
const stages = new Map((provenance?.stages ?? []).map((stage) => [stage.name, stage]));

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};
const code = (text) => element("code", {}, text);
const button = (text, act, properties = {}) => {
  const made = element("button", { type: "button", ...properties }, text);
  made.addEventListener("click", act);
  return made;
};
// Rows of a name and what it is; those of nothing are left out.
const rows = (pairs) =>
  element("dl", {}, ...pairs.filter(([, value]) => value).flatMap(([name, value]) => [
    element("dt", {}, name),
    element("dd", {}, ...[value].flat()),
  ]));
// A long list is folded.
const listing = (items, what) => {
  const list = element("ul", {}, ...items.map((item) => element("li", {}, ...[item].flat())));
  return items.length > 12 ? element("details", {}, element("summary", {}, `${items.length} ${what}`), list) : list;
};

const two = (number) => String(number).padStart(2, "0");
const duration = (seconds) => {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
};
const amount = (bytes) => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${unit ? value.toFixed(1) : value} ${units[unit]}`;
};
const plural = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
const shorter = (digest) => digest.slice(0, 12);
// What JSON has no word for stands there as an object with one key.
const marked = {
  $int: (text) => text,
  $float: (text) => text,
  $url: (text) => text,
  $file: (digest) => `file ${shorter(digest)}`,
  $sha256: (digest) => `sha256 ${shorter(digest)}`,
};
const written = (value) => {
  if (typeof value === "string") return value;
  const [kind, text] = Object.entries(value ?? {})[0] ?? [];
  return Object.hasOwn(marked, kind) ? marked[kind](text) : JSON.stringify(value);
};

const title = element("h2", { id: "cwm-panel-title", tabIndex: -1 });
const body = element("div");
const back = button("Back", () => leave(), { hidden: true });
const panel = element(
  "dialog",
  { id: "cwm-panel" },
  element("div", { className: "panel-bar" }, back, button("Close", () => panel.close())),
  title,
  body,
);
panel.setAttribute("aria-labelledby", title.id);
// A click beside the panel closes it; Escape does by itself, and both give the focus back to the cell.
panel.addEventListener("click", (event) => event.target === panel && panel.close());
document.body.append(panel);

// What was looked at before, so that one can go back.
let trail = [];
const draw = (heading, content) => {
  title.replaceChildren(heading);
  body.replaceChildren(...content);
  back.hidden = trail.length < 2;
  if (!panel.open) panel.showModal();
  panel.scrollTop = 0;
  title.focus();
};
const enter = (view) => {
  trail.push(view);
  view();
};
const leave = () => {
  trail.pop();
  trail[trail.length - 1]();
};
panel.addEventListener("close", () => (trail = []));

const link = (label, text = label) =>
  known.has(label) ? button(text, () => enter(() => show(label)), { className: "cell-link" }) : code(text);

const copyable = (command) => {
  const text = code(command);
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(command);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      copy.textContent = "Selected";
    }
  });
  return [text, " ", copy];
};

const parameters = (label, cell) => {
  const stage = stages.get(label.split("[")[0]);
  const names = [...(stage?.explicit ?? []), ...cell.explicit];
  const all = Object.entries({ ...stage?.parameters, ...cell.parameters }).sort(([a], [b]) => (a < b ? -1 : 1));
  const explicit = all.filter(([name]) => names.includes(name));
  const rest = all.filter(([name]) => !names.includes(name));
  const parameterRows = (entries) => rows(entries.map(([name, value]) => [name, code(written(value))]));
  return [
    explicit.length ? parameterRows(explicit) : null,
    rest.length
      ? element("details", {}, element("summary", {}, plural(rest.length, "default", "defaults")), parameterRows(rest))
      : null,
  ];
};

const inputs = (cell) =>
  Object.entries(cell.inputs).map(([name, group]) => [
    name,
    listing(
      group.map((one) => {
        const digest = one.digest ?? known.get(one.cell)?.outputs[one.output]?.digest;
        return [
          one.cell ? link(one.cell, `${one.cell}.${one.output}`) : code(one.file),
          digest ? ` ${shorter(digest)}` : "",
        ];
      }),
      "artifacts",
    ),
  ]);

const show = (label) => {
  const cell = known.get(label);
  const run = cell.run_info;
  const machine = provenance.machines.find((one) => one.name === run.on);
  draw(label, [
    rows([
      ["Stage", cell.stage],
      ["Key", copyable(`cwm show ${shorter(cell.key)}`)],
      ["Made", `${run.at.replace("T", " ").replace("Z", " UTC")}${run.by ? ` by ${run.by}` : ""}, cwm ${run.cwm}`],
      ["Machine", `${run.on} (${machine ? `${machine.os}, ` : ""}${plural(run.cores, "core", "cores")})`],
      ["Computed on", [run.device, ...(run.accelerators ?? [])].filter(Boolean).join(", ")],
      ["Time", `${duration(run.seconds)}, ${duration(run.cpu_seconds)} of CPU`],
      ["Memory", `${amount(run.peak_memory_bytes)} at most`],
      ["Code", cell.code ? code(cell.code) : null],
    ]),
    element("h3", {}, "Parameters"),
    ...parameters(label, cell).filter(Boolean),
    element("h3", {}, "Made from"),
    Object.keys(cell.inputs).length || cell.fetched
      ? rows([
          ...inputs(cell),
          ["fetched", cell.fetched && listing(cell.fetched.map((one) => [code(one.url), ` ${amount(one.bytes)}`]), "files")],
        ])
      : element("p", {}, "Nothing: it begins here."),
    element("h3", {}, "Outputs"),
    rows(
      Object.entries(cell.outputs).map(([name, one]) => [
        name,
        [`${one.format}, ${amount(one.size)} `, code(shorter(one.digest))],
      ]),
    ),
  ]);
};

const showAll = (heading, labels) => {
  const unknown = labels.some((label) => !known.has(label));
  draw(heading, [
    listing(labels.map((label) => link(label)), "cells"),
    unknown
      ? element("p", {}, "How they were made stands in the page that ", code("cwm export"), " or ", code("cwm run"), " copies out.")
      : null,
  ].filter(Boolean));
};

// One cell of each table can be reached by Tab; from there arrows lead to the others.
const columnFromEnd = (cell) => cell.parentNode.cells.length - cell.cellIndex;
const buttonAt = (row, fromEnd) => row.cells[row.cells.length - fromEnd]?.querySelector(".from");
const move = (event) => {
  const here = event.target.closest(".from");
  const cell = here?.closest("td");
  if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
  const table = event.currentTarget;
  const inRow = [...cell.parentNode.querySelectorAll(".from")];
  const inColumn = [...table.rows].map((row) => buttonAt(row, columnFromEnd(cell))).filter(Boolean);
  const next = {
    ArrowLeft: () => inRow[inRow.indexOf(here) - 1],
    ArrowRight: () => inRow[inRow.indexOf(here) + 1],
    ArrowUp: () => inColumn[inColumn.indexOf(here) - 1],
    ArrowDown: () => inColumn[inColumn.indexOf(here) + 1],
    Home: () => inRow[0],
    End: () => inRow[inRow.length - 1],
  }[event.key];
  if (!next) return;
  event.preventDefault();
  next()?.focus();
};
for (const table of document.querySelectorAll("table")) {
  const cells = [...table.querySelectorAll("td[data-from]")];
  cells.forEach((cell, index) => {
    const made = element("button", { type: "button", className: "from", tabIndex: index ? -1 : 0 });
    made.title = "Where this comes from";
    made.append(...cell.childNodes);
    cell.append(made);
  });
  if (!cells.length) continue;
  table.addEventListener("keydown", move);
  table.addEventListener("focusin", (event) => {
    const here = event.target.closest(".from");
    if (!here) return;
    table.querySelector('.from[tabindex="0"]')?.setAttribute("tabindex", "-1");
    here.tabIndex = 0;
  });
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("td[data-from]");
    if (!cell) return;
    const labels = cell.dataset.from.split(" ").map((index) => sources[index]).filter(Boolean);
    const number = cell.textContent.trim();
    enter(labels.length === 1 && known.has(labels[0])
      ? () => show(labels[0])
      : () => showAll(`${number} comes from`, labels));
  });
}

// The section at the end.
const section = document.getElementById("cwm-made");
if (section && provenance) {
  const sum = (field) => provenance.stages.reduce((total, stage) => total + stage[field], 0);
  const versions = [...new Set([...known.values()].map((cell) => cell.run_info.cwm))];
  const cellsOf = (name) => [...known.keys()].filter((label) => label === name || label.startsWith(`${name}[`));
  const heads = ["Stage", "Kind", "Cells", "Time", "CPU", "Memory", "Written"];
  const line = (first, kind, of) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, first),
      element("td", {}, kind),
      ...[
        of.cells.toLocaleString("en"),
        duration(of.seconds),
        duration(of.cpu_seconds),
        amount(of.peak_memory_bytes),
        amount(of.bytes),
      ].map((text) => element("td", { className: "number" }, text)),
    );
  const total = {
    cells: sum("cells"),
    seconds: sum("seconds"),
    cpu_seconds: sum("cpu_seconds"),
    bytes: sum("bytes"),
    peak_memory_bytes: Math.max(0, ...provenance.stages.map((stage) => stage.peak_memory_bytes)),
  };
  const machines = provenance.machines.map((one) => `${one.name} (${one.os}, ${plural(one.cores, "core", "cores")})`);
  const table = element(
    "table",
    {},
    element("caption", {}, "Sums over the cells of each stage; memory is the most that one of them held."),
    element("thead", {}, element("tr", {}, ...heads.map((head, index) =>
      element("th", { scope: "col", className: index > 1 ? "number" : "" }, head)))),
    element("tbody", {}, ...provenance.stages.map((stage) =>
      line(
        button(stage.name, () => enter(() => showAll(stage.name, cellsOf(stage.name))), { className: "cell-link" }),
        stage.kind,
        stage,
      ))),
    element("tbody", {}, line("All", "", total)),
  );
  const scroll = element("div", { className: "scroll", tabIndex: 0 }, table);
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "How this was made");
  section.replaceChildren(
    element("p", {}, `The report rests on ${plural(total.cells, "cell", "cells")} of the pipeline `, code(provenance.pipeline),
      `, made by cwm ${versions.join(", ")} on ${machines.join("; ")}. Results that were taken from the store count with the time that they once took. `,
      element("a", { href: "provenance.json" }, "provenance.json"), " has all of it."),
    scroll,
  );
}
