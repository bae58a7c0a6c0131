// Column headings become buttons that sort. Rows of one group (ours, the paper's, the difference) move together.
const odd = { inf: Infinity, "-inf": -Infinity, nan: NaN };
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const original = [...table.tBodies];
  if (original.length < 2) continue;
  const key = (body, column) => {
    const cell = body.rows[0].cells[column];
    if (!cell || cell.classList.contains("absent")) return null;
    const value = cell.dataset.value;
    return value === undefined ? cell.textContent : value in odd ? odd[value] : Number(value);
  };
  const compare = (a, b, sign) => {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") {
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
      return sign * (a < b ? -1 : a > b ? 1 : 0);
    }
    return sign * String(a).localeCompare(String(b), "en", { numeric: true });
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // First up, then down, then as it was.
      const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
      const order = next === undefined ? "ascending" : next;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (order) head.setAttribute("aria-sort", order);
      const sign = order === "descending" ? -1 : 1;
      const bodies = [...original];
      if (order) bodies.sort((a, b) => compare(key(a, column), key(b, column), sign));
      table.append(...bodies);
    });
  });
}
