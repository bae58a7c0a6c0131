// Cells that say which cells of the pipeline made their number tell it to whoever points at them.
const sources = JSON.parse(document.getElementById("cwm-sources").textContent);
for (const cell of document.querySelectorAll("[data-from]")) {
  const labels = cell.dataset.from.split(" ").map((index) => sources[index]);
  cell.title = labels.filter((label) => label !== undefined).join("\n");
}
