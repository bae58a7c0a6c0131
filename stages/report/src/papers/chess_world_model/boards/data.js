// What was embedded: games with their truth, and what each model predicts of them (docs/design/report.md).
const LABELS = 75;
const SQUARES = 64;
const NAMES = "abcdefgh";

const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

// The 75 classes of each position, null where nothing is predicted. What is stored are pairs of label and class for what
// differs from the position before, with their number before them.
const positionsOf = (text) => {
  const bytes = toBytes(text);
  const positions = [];
  let labels = new Array(LABELS).fill(0);
  for (let at = 0; at < bytes.length; ) {
    labels = [...labels];
    for (const end = at + 1 + 2 * bytes[at++]; at < end; at += 2) {
      if (bytes[at] < 128) labels[bytes[at]] = bytes[at + 1];
      else labels[bytes[at] - 128] = null;
    }
    positions.push(labels);
  }
  return positions;
};

const squareName = (label) => NAMES[label % 8] + (8 - (label >> 3));
const PIECE_LETTERS = ".PNBRQKpnbrqk";
const KINDS = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
const pieceName = (value) => {
  const letter = PIECE_LETTERS[value] ?? "?";
  if (letter === ".") return "empty";
  const kind = KINDS[letter.toLowerCase()];
  return kind ? `${letter === letter.toLowerCase() ? "black" : "white"} ${kind}` : "unknown";
};

// The eleven labels that are no squares, and how their classes read.
const choice = (...words) => (value) => words[value] ?? "?";
const STATE = [
  ["Side to move", choice("white", "black")],
  ["White may castle short", choice("no", "yes")],
  ["White may castle long", choice("no", "yes")],
  ["Black may castle short", choice("no", "yes")],
  ["Black may castle long", choice("no", "yes")],
  ["En passant file", choice("none", ...NAMES)],
  ["En passant rank", choice("none", "3", "6")],
  ["Half-move clock, high byte", String],
  ["Half-move clock, low byte", String],
  ["Move number, high byte", String],
  ["Move number, low byte", String],
];
