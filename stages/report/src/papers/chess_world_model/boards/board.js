// A board as a drawing: 64 squares that are filled anew at each step.
const SVG = document.getElementById("board-true")?.namespaceURI;
const draw = (name, attributes, ...children) => {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

const makeBoard = (svg, predicted) => {
  const squares = [];
  for (let label = 0; label < SQUARES; label++) {
    const [x, y] = [(label % 8) * 40, (label >> 3) * 40];
    const piece = [draw("path", { class: "body" }), draw("path", { class: "lines" })];
    const unknown = draw("text", { class: "unknown", x: 20, y: 30 });
    const ground = draw("rect", { width: 40, height: 40 });
    // More than a colour: a frame on both boards, and on the predicted one a cross in a corner.
    const mark = draw("g", { class: "mark" }, draw("rect", { x: 1.5, y: 1.5, width: 37, height: 37 }));
    if (predicted) mark.append(draw("path", { class: "corner", d: "M40 0v15L25 0z" }), draw("path", { class: "cross", d: "M32.5 2.5l5 5m0-5l-5 5" }));
    const group = draw("g", { transform: `translate(${x} ${y})` }, ground, ...piece, unknown, mark);
    svg.append(group);
    squares.push({ group, piece, unknown, dark: (label + (label >> 3)) % 2 === 1 });
  }
  for (let at = 0; at < 8; at++) {
    svg.append(draw("text", { class: "coordinate", x: -9, y: at * 40 + 25 }, String(8 - at)));
    svg.append(draw("text", { class: "coordinate", x: at * 40 + 20, y: 335 }, NAMES[at]));
  }
  // `classes` has a class for each square, null where nothing is predicted; `wrong` the labels to mark.
  return (classes, wrong, moved) => {
    squares.forEach(({ group, piece, unknown, dark }, label) => {
      const letter = classes[label] === null ? "?" : (PIECE_LETTERS[classes[label]] ?? "?");
      const shapes = PIECES[letter.toUpperCase()] ?? ["", ""];
      piece.forEach((path, index) => path.setAttribute("d", shapes[index]));
      unknown.textContent = letter === "?" ? "?" : "";
      const kinds = [dark ? "dark" : "light", letter === letter.toUpperCase() ? "white" : "black"];
      if (wrong.has(label)) kinds.push("wrong");
      if (moved.includes(squareName(label))) kinds.push("moved");
      group.setAttribute("class", kinds.join(" "));
      group.dataset.piece = letter;
    });
  };
};
