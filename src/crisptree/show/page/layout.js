// Where the visible nodes go. A tree is laid out tidily, downwards or to the right, or, where there
// is little room, as an outline; a list is a column of conditions with their actions beside them.

const BOX_HEIGHT = 46, PILL_HEIGHT = 32, PADDING = 14, GAP = 16, DOWN = 58, RIGHT = 38, ROW = 52;
const LINE = 40, INDENT = 36;
const LONGEST_NAME = 28;
const pen = document.createElement("canvas").getContext("2d");

function textWidth(text, bold) {
  pen.font = `${bold ? "700 " : ""}14px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif`;
  return pen.measureText(text).width;
}

const clipped = (text) =>
  text.length <= LONGEST_NAME ? text : `${text.slice(0, LONGEST_NAME - 1).trimEnd()}…`;
const featureNames = data.features.map(clipped);
const actionNames = data.actions.map(clipped);
const inner = nodes.map((node, at) => at).filter((at) => !isLeaf(at));
const used = [...new Set(inner.map((at) => nodes[at].feature))].sort((a, b) => a - b);
const widest = (texts, bold) => Math.max(0, ...texts.map((text) => textWidth(text, bold)));
const nameWidth = widest(used.map((feature) => featureNames[feature]));
const thresholdWidth = widest(inner.map((at) => `> ${nodes[at].shown}`), true);
const boxWidth = Math.max(nameWidth, thresholdWidth) + 2 * PADDING;
const rowWidth = nameWidth + thresholdWidth + 4 * PADDING;
const taken = [...new Set(nodes.filter((node) => node.feature < 0).map((node) => node.action))];
const pillWidth = widest(taken.map((action) => actionNames[action])) + 2 * PADDING;

/** Visible nodes with their depth, parents first, TRUE side first. */
function visible(folded) {
  const order = [];
  const waiting = [[0, 0]];
  while (waiting.length) {
    const [at, depth] = waiting.pop();
    order.push([at, depth]);
    if (!isLeaf(at) && !folded.has(at)) {
      waiting.push([nodes[at].no, depth + 1], [nodes[at].yes, depth + 1]);
    }
  }
  return order;
}

/** The centre of every visible node across the levels: subtrees are pushed apart until their
 *  outlines leave a gap on every level, and parents sit midway above their sides. */
function tidy(order, folded, size) {
  const outlines = new Map();
  const half = new Map();
  for (const [at] of [...order].reverse()) {
    const outline = [[-size(at) / 2, size(at) / 2]];
    if (!isLeaf(at) && !folded.has(at)) {
      const first = outlines.get(nodes[at].yes), second = outlines.get(nodes[at].no);
      let distance = 0;
      for (let level = 0; level < Math.min(first.length, second.length); level++) {
        distance = Math.max(distance, first[level][1] - second[level][0] + GAP);
      }
      const shift = distance / 2;
      half.set(at, shift);
      for (let level = 0; level < Math.max(first.length, second.length); level++) {
        const left = first[level], right = second[level];
        outline.push([
          Math.min(left ? left[0] - shift : Infinity, right ? right[0] + shift : Infinity),
          Math.max(left ? left[1] - shift : -Infinity, right ? right[1] + shift : -Infinity),
        ]);
      }
    }
    outlines.set(at, outline);
  }
  const centres = new Map([[0, 0]]);
  for (const [at] of order) {
    if (half.has(at)) {
      centres.set(nodes[at].yes, centres.get(at) - half.get(at));
      centres.set(nodes[at].no, centres.get(at) + half.get(at));
    }
  }
  return centres;
}

/** Cards `{at, x, y, width, height}` and edges `{from, to, d, word, x, y, anchor}`. */
function laidOut(folded, outline) {
  if (data.chain) return laidOutList(folded);
  return outline ? laidOutOutline(folded) : laidOutTree(folded, data.downwards);
}

function laidOutTree(folded, downwards) {
  const order = visible(folded);
  const width = (at) => (isLeaf(at) ? pillWidth : downwards ? boxWidth : ownWidth(at));
  const height = (at) => (isLeaf(at) ? PILL_HEIGHT : BOX_HEIGHT);
  const centres = tidy(order, folded, downwards ? width : height);
  const lefts = levelStarts(order, width);
  const cards = new Map();
  for (const [at, depth] of order) {
    const [w, h, across] = [width(at), height(at), centres.get(at)];
    const card = downwards
      ? { x: across - w / 2, y: depth * (BOX_HEIGHT + DOWN) }
      : { x: lefts[depth], y: across - h / 2 };
    cards.set(at, { at, width: w, height: h, ...card });
  }
  const edges = [];
  for (const [at] of order) {
    if (isLeaf(at) || folded.has(at)) continue;
    for (const [to, word] of [[nodes[at].yes, "yes"], [nodes[at].no, "no"]]) {
      edges.push(downwards ? edgeDown(cards, at, to, word) : edgeRight(cards, at, to, word));
    }
  }
  return { cards: [...cards.values()], edges };
}

const ownWidth = (at) => 2 * PADDING + Math.max(
  textWidth(featureNames[nodes[at].feature]), textWidth(`> ${nodes[at].shown}`, true));

/** Where each level starts when the tree grows to the right: after the widest card before it. */
function levelStarts(order, width) {
  const widest = [];
  for (const [at, depth] of order) widest[depth] = Math.max(widest[depth] ?? 0, width(at));
  const starts = [0];
  for (const each of widest) starts.push(starts[starts.length - 1] + each + RIGHT);
  return starts;
}

/** One line a node, indented as folders are. */
function laidOutOutline(folded) {
  const order = visible(folded);
  const cards = new Map();
  order.forEach(([at, depth], line) => cards.set(at, {
    at, x: depth * INDENT, y: line * LINE, height: PILL_HEIGHT,
    width: isLeaf(at) ? pillWidth : textWidth(featureNames[nodes[at].feature])
      + textWidth(`> ${nodes[at].shown}`, true) + 2 * PADDING + 10, flat: true,
  }));
  const edges = [];
  for (const [at] of order) {
    if (isLeaf(at) || folded.has(at)) continue;
    const from = cards.get(at), left = from.x + 8;
    for (const [to, word] of [[nodes[at].no, "no"], [nodes[at].yes, "yes"]]) {
      const card = cards.get(to), y = card.y + PILL_HEIGHT / 2;
      edges.push({
        from: at, to, word, d: `M${left},${from.y + PILL_HEIGHT}V${y}H${card.x}`,
        x: card.x - 4, y: y - 4, anchor: "end",
      });
    }
  }
  return { cards: [...cards.values()], edges };
}

function edgeDown(cards, from, to, word) {
  const a = cards.get(from), b = cards.get(to);
  const x0 = a.x + a.width / 2, y0 = a.y + a.height, x1 = b.x + b.width / 2, y1 = b.y;
  const middle = (y0 + y1) / 2, side = word === "yes" ? -6 : 6;
  return {
    from, to, word, d: `M${x0},${y0}C${x0},${middle} ${x1},${middle} ${x1},${y1}`,
    x: x1 + side, y: y1 - 9, anchor: word === "yes" ? "end" : "start",
  };
}

function edgeRight(cards, from, to, word) {
  const a = cards.get(from), b = cards.get(to);
  const x0 = a.x + a.width, y0 = a.y + a.height / 2, x1 = b.x, y1 = b.y + b.height / 2;
  const middle = (x0 + x1) / 2;
  return {
    from, to, word, d: `M${x0},${y0}C${middle},${y0} ${middle},${y1} ${x1},${y1}`,
    x: x1 - 5, y: y1 + (word === "yes" ? -7 : 17), anchor: "end",
  };
}

function laidOutList(folded) {
  const cards = [], edges = [];
  const { links, otherwise } = data.chain;
  const right = rowWidth + 48;
  for (let row = 0; row < links.length; row++) {
    const { node, answer, leaf } = links[row];
    const y = row * ROW, middle = y + PILL_HEIGHT / 2;
    const at = { height: PILL_HEIGHT, y };
    cards.push({ at: node, x: 0, width: rowWidth, answer, start: row ? "else if" : "if", ...at });
    if (folded.has(node)) break;
    cards.push({ at: leaf, x: right, width: pillWidth, ...at });
    edges.push({ from: node, to: leaf, d: `M${rowWidth},${middle}H${right}` });
    const next = row + 1 < links.length ? links[row + 1].node : otherwise;
    edges.push({ from: node, to: next, d: `M${rowWidth / 2},${y + PILL_HEIGHT}V${y + ROW}` });
    if (row + 1 === links.length) {
      const last = { y: y + ROW, height: PILL_HEIGHT };
      cards.push({ at: otherwise, x: right, width: pillWidth, otherwise: rowWidth, ...last });
      const level = y + ROW + PILL_HEIGHT / 2;
      edges.push({ from: otherwise, to: otherwise, d: `M${rowWidth},${level}H${right}` });
    }
  }
  if (!links.length) cards.push({ at: otherwise, x: 0, y: 0, width: pillWidth, height: PILL_HEIGHT });
  return { cards, edges };
}
