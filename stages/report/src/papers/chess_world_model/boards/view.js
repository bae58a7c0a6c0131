// The view: what is picked, the ply, and everything that follows from them. Texts of games are set as text, never as
// markup.
const found = (id) => document.getElementById(`board-${id}`);
const data = JSON.parse(document.getElementById("cwm-boards")?.textContent ?? "null");

const start = () => {
  const [view, picks] = [found("view"), { model: found("model"), test: found("test"), game: found("game") }];
  const drawPredicted = makeBoard(found("predicted"), true);
  const drawTrue = makeBoard(found("true"), false);
  const games = data.games.map((game) => ({ ...game, positions: positionsOf(game.labels) }));
  let [shown, ply] = [null, 0];

  // Only what was embedded can be picked: models, tests of the model, then games of both.
  const options = (select, entries, wanted) => {
    select.replaceChildren(...entries.map(([value, text]) => new Option(text, value, false, String(value) === String(wanted))));
    return entries.length ? Number(select.value) : null;
  };
  const unique = (values) => [...new Set(values)].sort((a, b) => a - b);
  const pick = () => {
    const models = unique(data.predictions.map((prediction) => prediction.model));
    const model = options(picks.model, models.map((index) => [index, data.models[index]]), picks.model.value);
    const of = data.predictions.filter((prediction) => prediction.model === model);
    const test = options(picks.test, unique(of.map(({ game }) => games[game].test)).map((index) => [index, data.tests[index]]), picks.test.value);
    const on = of.filter(({ game }) => games[game].test === test);
    const name = ({ number, id, result, moves }) => `${number}: ${id} (${[result, `${moves.length} plies`].filter((part) => part !== "*").join(", ")})`;
    const game = options(picks.game, on.map((prediction) => [prediction.game, name(games[prediction.game])]), picks.game.value);
    const prediction = on.find((prediction) => prediction.game === game);
    const before = shown?.game;
    const [predicted, truth] = [positionsOf(prediction.labels), games[game].positions];
    const differ = (labels, at) => new Set(labels.flatMap((value, label) => (value === truth[at][label] ? [] : [label])));
    shown = { prediction, game: games[game], predicted, wrong: predicted.map(differ) };
    if (before !== shown.game) ply = 0;
    listMoves();
    drawStrip();
    found("ply").max = shown.game.moves.length;
    found("cell").textContent = prediction.cell;
    go(ply);
  };

  const number = (at) => `${(at + 1) >> 1}${at % 2 ? "." : "…"}`;
  const moveName = (at) => (at === 0 ? "start" : (shown.game.san ?? shown.game.moves)[at - 1]);
  const wrongAt = (at) => shown.wrong[at].size;
  const wrongText = (count) => (count === 0 ? "all 75 labels right" : `${count} of 75 labels wrong`);

  const listMoves = () => {
    const items = shown.game.positions.map((_, at) => {
      const [item, button] = [document.createElement("li"), document.createElement("button")];
      button.type = "button";
      button.tabIndex = -1;
      button.dataset.ply = at;
      button.textContent = at % 2 ? `${number(at)} ${moveName(at)}` : moveName(at);
      button.setAttribute("aria-label", `${at ? `${number(at)} ` : ""}${moveName(at)}, ${wrongText(wrongAt(at))}`);
      if (at === 0) item.className = "start";
      if (wrongAt(at)) {
        const mark = document.createElement("span");
        mark.textContent = ` ✗${wrongAt(at)}`;
        button.append(mark);
        button.className = "wrong";
      }
      item.append(button);
      return item;
    });
    found("moves").replaceChildren(...items);
  };

  // Bars from below are labels that are right; what is missing to 75 hangs from above, and a tick says that it does.
  const drawStrip = () => {
    const count = shown.wrong.length;
    const strip = found("strip");
    strip.setAttribute("viewBox", `0 0 ${count} 90`);
    const bars = (top, height) => shown.wrong.map((_, at) => (height(at) ? `M${at} ${top(at)}h1v${height(at)}h-1z` : "")).join("");
    const right = draw("path", { class: "right", d: bars((at) => wrongAt(at), (at) => LABELS - wrongAt(at)) });
    const wrong = draw("path", { class: "wrong", d: bars(() => 0, wrongAt) + bars(() => 80, (at) => (wrongAt(at) ? 10 : 0)) });
    strip.replaceChildren(right, wrong, draw("rect", { class: "here", id: "board-here", y: 0, width: 1, height: 90 }));
    const exact = shown.wrong.filter((wrong) => wrong.size === 0).length;
    strip.setAttribute("aria-label", `Labels that are right, ply by ply: all 75 in ${exact} of ${count} positions`);
  };

  const row = (name, predicted, truth, isWrong) => {
    const line = document.createElement("tr");
    const cells = ["th", "td", "td"].map((kind) => document.createElement(kind));
    cells[0].scope = "row";
    [name, isWrong ? `✗ ${predicted}` : predicted, truth].forEach((text, index) => (cells[index].textContent = text));
    if (isWrong) line.className = "wrong";
    line.append(...cells);
    return line;
  };

  const summary = (wrong) => {
    const labels = [...wrong];
    const squares = labels.filter((label) => label < SQUARES).map(squareName);
    const others = labels.filter((label) => label >= SQUARES).map((label) => STATE[label - SQUARES][0].toLowerCase());
    const at = ply === 0 ? "Before the first move" : `Ply ${ply} of ${shown.game.moves.length}, ${number(ply)} ${moveName(ply)}`;
    const parts = [`${at}: ${wrongText(wrong.size)}.`];
    if (squares.length) parts.push(`Wrong ${squares.length === 1 ? "square" : "squares"}: ${squares.join(", ")}.`);
    if (others.length) parts.push(`Wrong besides: ${others.join("; ")}.`);
    const loss = shown.prediction.loss?.[ply];
    if (loss !== undefined) parts.push(`Loss ${loss}.`);
    return parts.join(" ");
  };

  const go = (to) => {
    ply = Math.max(0, Math.min(to, shown.game.moves.length));
    const [truth, predicted, wrong] = [shown.game.positions[ply], shown.predicted[ply], shown.wrong[ply]];
    const moved = ply === 0 ? [] : [shown.game.moves[ply - 1].slice(0, 2), shown.game.moves[ply - 1].slice(2, 4)];
    drawPredicted(predicted, wrong, moved);
    drawTrue(truth, wrong, moved);
    found("status").textContent = summary(wrong);
    found("state").replaceChildren(...STATE.map(([name, read], index) => {
      const label = SQUARES + index;
      const value = predicted[label];
      return row(name, value === null ? "nothing" : read(value), read(truth[label]), wrong.has(label));
    }));
    const slider = found("ply");
    slider.value = ply;
    slider.setAttribute("aria-valuetext", `ply ${ply}, ${moveName(ply)}, ${wrongText(wrong.size)}`);
    found("here").setAttribute("x", ply);
    const [list, before] = [found("moves"), found("moves").querySelector("[aria-current]")];
    const current = list.querySelector(`[data-ply="${ply}"]`);
    before?.removeAttribute("aria-current");
    if (before) before.tabIndex = -1;
    current.setAttribute("aria-current", "step");
    current.tabIndex = 0;
    if (before && document.activeElement === before) current.focus({ preventScroll: true });
    // The list alone scrolls, not the page.
    list.scrollTop = current.offsetTop - list.clientHeight / 2;
  };

  const seek = (from, step) => {
    for (let at = from; at >= 0 && at < shown.wrong.length; at += step) {
      if (wrongAt(at)) return go(at);
    }
    const where = step < 0 ? "before this ply" : from === 0 ? "in this game" : "after this ply";
    found("status").textContent = `No position ${where} is wrong. ${summary(shown.wrong[ply])}`;
  };
  const steps = {
    start: () => go(0),
    back: () => go(ply - 1),
    forward: () => go(ply + 1),
    end: () => go(shown.game.moves.length),
    first: () => seek(0, 1),
    next: () => seek(ply + 1, 1),
    previous: () => seek(ply - 1, -1),
  };
  const keys = { Home: "start", ArrowLeft: "back", ArrowRight: "forward", End: "end", f: "first", n: "next", p: "previous" };
  for (const [name, step] of Object.entries(steps)) found(name).addEventListener("click", step);
  view.addEventListener("keydown", (event) => {
    // Selects have keys of their own, and so has the browser with these.
    if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
    const name = keys[event.key];
    if (name === undefined) return;
    event.preventDefault();
    steps[name]();
  });
  found("ply").addEventListener("input", (event) => go(Number(event.target.value)));
  found("moves").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) go(Number(button.dataset.ply));
  });
  found("strip").addEventListener("click", (event) => {
    const { left, width } = found("strip").getBoundingClientRect();
    go(Math.floor(((event.clientX - left) / width) * shown.wrong.length));
  });
  for (const select of Object.values(picks)) select.addEventListener("change", pick);
  view.hidden = false;
  pick();
};
if (data !== null) start();
