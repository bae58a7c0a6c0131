// What was embedded: games with their truth, and what each model believes of them (docs/design/report.md).
const LABELS = 75;
const SQUARES = 64;
const NAMES = "abcdefgh";

const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

// For each position pairs of label and class, with their number before them.
const pairsOf = (text) => {
  const bytes = toBytes(text);
  const positions = [];
  for (let at = 0; at < bytes.length; ) {
    const pairs = [];
    for (const end = at + 1 + 2 * bytes[at++]; at < end; at += 2) pairs.push([bytes[at], bytes[at + 1]]);
    positions.push(pairs);
  }
  return positions;
};

// The 75 true classes of each position; what is stored is the difference to the position before.
const truthOf = (text) => {
  let labels = new Uint8Array(LABELS);
  return pairsOf(text).map((pairs) => {
    labels = labels.slice();
    for (const [label, value] of pairs) labels[label] = value;
    return labels;
  });
};

// Of each position which labels are wrong: a map from label to the believed class, null where there is none.
const wrongOf = (text) =>
  pairsOf(text).map((pairs) => new Map(pairs.map(([label, value]) => (label > 127 ? [label - 128, null] : [label, value]))));

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
