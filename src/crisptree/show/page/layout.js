// Where the visible nodes go. A tree is laid out tidily, downwards or to the right, or, where there
// is little room, as an outline; a list is a column of conditions with their actions at the right.

const BOX_HEIGHT = 46, ROW_HEIGHT = 32, PADDING = 11, GAP = 16, DOWN = 58, RIGHT = 34, BETWEEN = 20;
const LONGEST_BEND = 70, OUTLINE_GAP = 8, INDENT = 36, TEXT_LINE = 19, SWATCH = 18;
const LONGEST_TEXT = 40, LONGEST_NAME = 28, LONGEST_SUM = 72, LONGEST_LINE = 11;
const pen = document.createElement("canvas").getContext("2d");

function textWidth(text, bold) {
  pen.font = `${bold ? "700 " : ""}14px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif`;
  return pen.measureText(text).width;
}

const clipped = (text, longest) =>
  text.length <= longest ? text : `${text.slice(0, longest - 1).trimEnd()}…`;
const isSum = (feature) => Boolean(features[feature].terms?.length);
const featureNames = features.map(({ name }, at) => clipped(name, isSum(at) ? LONGEST_SUM : LONGEST_NAME));
/** A name in lines: one, or one for each term of a long sum. */
const nameLines = (feature) => (isSum(feature) && featureNames[feature].length > LONGEST_NAME
  ? featureNames[feature].split(/ (?=[+−] )/) : [featureNames[feature]]);
const testOf = (at, answer) => clipped(nodes[at].tests[+answer], LONGEST_TEXT);
const askOf = (at) => (nodes[at].flag ? "yes?" : testOf(at, true));
const longestLine = actions.kind === "discrete" ? LONGEST_NAME : LONGEST_TEXT;
for (const node of nodes) {
  if (node.lines) node.lines = node.lines.map(([text, swatch]) => [clipped(text, longestLine), swatch]);
}
const inner = nodes.map((node, at) => at).filter((at) => !isLeaf(at));
const leaves = nodes.map((node, at) => at).filter(isLeaf);
const used = [...new Set(inner.map((at) => nodes[at].feature))].sort((a, b) => a - b);
const read = [...new Set(leaves.flatMap((at) => nodes[at].gains.map((gain) => gain[1])))];
const widest = (texts, bold) => Math.max(0, ...texts.map((text) => textWidth(text, bold)));
const nameWidth = widest(used.map((feature) => featureNames[feature]));
const boxWidth = Math.max(widest(used.flatMap(nameLines)), widest(inner.map(askOf), true)) + 2 * PADDING;
const rowWidth = nameWidth + 4 * PADDING
  + widest(inner.flatMap((at) => [testOf(at, true), testOf(at, false)]), true);
const hasSwatches = actions.kind === "box" && actions.names.length > 1;
const leafWidthOf = (linesOf) => widest(leaves.flatMap((at) => linesOf(at).map(([text]) => text)))
  + 2 * PADDING + (hasSwatches ? SWATCH : 0);
const leafWidth = leafWidthOf((at) => nodes[at].lines);
const heightOf = (lines) => ROW_HEIGHT + (lines.length - 1) * TEXT_LINE;
const leafHeight = (at) => heightOf(nodes[at].lines);
const highestLeaf = Math.max(...leaves.map(leafHeight));

/** A long name on two lines. */
function halved(text) {
  const spaces = [...text.matchAll(/ /g)].map((match) => match.index);
  if (text.length <= LONGEST_LINE || !spaces.length) return [text];
  const away = (space) => Math.abs(space - text.length / 2);
  const middle = spaces.reduce((best, space) => (away(space) < away(best) ? space : best));
  return [text.slice(0, middle), text.slice(middle + 1)];
}

/** How boxes are filled: each name on one line, or long ones on two; sums have their own lines. */
const WIDE = {
  names: (at) => nameLines(nodes[at].feature), lines: (at) => nodes[at].lines, leafWidth,
};
const halvedLines = (at) => (actions.kind === "discrete"
  ? halved(nodes[at].lines[0][0]).map((text) => [text, null]) : nodes[at].lines);
const NARROW = {
  names: (at) => nameLines(nodes[at].feature).flatMap((line, _, all) => (all.length > 1 ? [line] : halved(line))),
  lines: halvedLines,
  leafWidth: leafWidthOf(halvedLines),
};

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
function tidy(order, folded, size, gap) {
  const outlines = new Map();
  const half = new Map();
  for (const [at] of [...order].reverse()) {
    const outline = [[-size(at) / 2, size(at) / 2]];
    if (!isLeaf(at) && !folded.has(at)) {
      const first = outlines.get(nodes[at].yes), second = outlines.get(nodes[at].no);
      let distance = 0;
      for (let level = 0; level < Math.min(first.length, second.length); level++) {
        distance = Math.max(distance, first[level][1] - second[level][0] + gap);
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

/** Boxes `{at, x, y, width, height}` and edges `{from, to, d, word, x, y, anchor}`. */
function laidOut(folded, outline) {
  if (data.list) return laidOutList(folded);
  if (outline) return laidOutOutline(folded);
  if (data.downwards) return laidOutTree(folded, WIDE);
  const [wide, narrow] = [WIDE, NARROW].map((filling) => laidOutTree(folded, filling));
  return scaleOf(narrow.boxes, folded) > scaleOf(wide.boxes, folded) ? narrow : wide;
}

/** How large a layout can be shown whole. */
function scaleOf(boxes, folded) {
  const { width, height } = extentOf(boxes, folded);
  return Math.min(svg.clientWidth / width, svg.clientHeight / height);
}

/** How far the boxes reach, with the badges of folded nodes. */
function extentOf(boxes, folded) {
  const badge = (box) => (folded.has(box.at) && !data.downwards ? 96 : 0);
  const x = Math.min(data.list ? -58 : 0, ...boxes.map((box) => box.x)) - 12;
  const y = Math.min(...boxes.map((box) => box.y)) - 12;
  return {
    x, y,
    width: Math.max(...boxes.map((box) => box.x + box.width + badge(box))) + 12 - x,
    height: Math.max(...boxes.map((box) => box.y + box.height)) + 12 - y
      + (folded.size && data.downwards ? 24 : 0),
  };
}

function laidOutTree(folded, filling) {
  const { downwards } = data;
  const order = visible(folded);
  const ownWidth = (at) => widest(filling.names(at)) + 2 * PADDING;
  const askWidth = (at) => textWidth(askOf(at), true) + 2 * PADDING;
  const width = (at) => (isLeaf(at) ? filling.leafWidth
    : downwards ? boxWidth : Math.max(ownWidth(at), askWidth(at)));
  const height = (at) => (isLeaf(at) ? heightOf(filling.lines(at))
    : BOX_HEIGHT + (filling.names(at).length - 1) * TEXT_LINE);
  const centres = tidy(order, folded, downwards ? width : height, downwards ? GAP : GAP / 2);
  const lefts = levelStarts(order, width);
  const pitch = Math.max(...order.map(([at]) => height(at)), highestLeaf) + DOWN;
  const boxes = new Map();
  for (const [at, depth] of order) {
    const [w, h, across] = [width(at), height(at), centres.get(at)];
    const place = downwards
      ? { x: across - w / 2, y: depth * pitch }
      : { x: lefts[depth], y: across - h / 2 };
    const text = isLeaf(at) ? { lines: filling.lines(at) } : { names: filling.names(at) };
    boxes.set(at, { at, width: w, height: h, ...place, ...text });
  }
  const edges = [];
  for (const [at] of order) {
    if (isLeaf(at) || folded.has(at)) continue;
    for (const [to, word] of [[nodes[at].yes, "yes"], [nodes[at].no, "no"]]) {
      edges.push(downwards ? edgeDown(boxes, at, to, word) : edgeRight(boxes, at, to, word));
    }
  }
  return { boxes: [...boxes.values()], edges };
}

/** Where each level starts when the tree grows to the right: after the widest box before it. */
function levelStarts(order, width) {
  const widestOf = [];
  for (const [at, depth] of order) widestOf[depth] = Math.max(widestOf[depth] ?? 0, width(at));
  const starts = [0];
  for (const each of widestOf) starts.push(starts[starts.length - 1] + each + RIGHT);
  return starts;
}

const outlineName = (at) => clipped(features[nodes[at].feature].name, LONGEST_NAME);

/** One line per node, indented as folders are. */
function laidOutOutline(folded) {
  const order = visible(folded);
  const boxes = new Map();
  let y = 0;
  for (const [at, depth] of order) {
    const height = isLeaf(at) ? leafHeight(at) : ROW_HEIGHT;
    const width = isLeaf(at) ? leafWidth : textWidth(outlineName(at))
      + textWidth(askOf(at), true) + 2 * PADDING + 10;
    boxes.set(at, { at, x: depth * INDENT, y, width, height, flat: true });
    y += height + OUTLINE_GAP;
  }
  const edges = [];
  for (const [at] of order) {
    if (isLeaf(at) || folded.has(at)) continue;
    const from = boxes.get(at), left = from.x + 8;
    for (const [to, word] of [[nodes[at].no, "no"], [nodes[at].yes, "yes"]]) {
      const box = boxes.get(to), level = box.y + ROW_HEIGHT / 2;
      edges.push({
        from: at, to, word, d: `M${left},${from.y + ROW_HEIGHT}V${level}H${box.x}`,
        x: box.x - 4, y: level - 3 - edgeWidth(to) / 2, anchor: "end",
      });
    }
  }
  return { boxes: [...boxes.values()], edges };
}

function edgeDown(boxes, from, to, word) {
  const a = boxes.get(from), b = boxes.get(to);
  const x0 = a.x + a.width / 2, y0 = a.y + a.height, x1 = b.x + b.width / 2, y1 = b.y;
  const middle = (y0 + y1) / 2, side = (word === "yes" ? -1 : 1) * (5 + edgeWidth(to) / 2);
  return {
    from, to, word, d: `M${x0},${y0}C${x0},${middle} ${x1},${middle} ${x1},${y1}`,
    x: x1 + side, y: y1 - 9, anchor: word === "yes" ? "end" : "start",
  };
}

function edgeRight(boxes, from, to, word) {
  const a = boxes.get(from), b = boxes.get(to);
  const x0 = a.x + a.width, y0 = a.y + a.height / 2, x1 = b.x, y1 = b.y + b.height / 2;
  // Level until the column's end, so as not to run behind wider boxes of the same column.
  const bend = Math.max(x0, x1 - LONGEST_BEND), middle = (bend + x1) / 2, half = edgeWidth(to) / 2;
  return {
    from, to, word, d: `M${x0},${y0}H${bend}C${middle},${y0} ${middle},${y1} ${x1},${y1}`,
    x: x1 - 6, y: y1 + (word === "yes" ? -6 - half : 15 + half), anchor: "end",
  };
}

/** How wide the line to a node is: with states, by the share of them that goes along it. */
const edgeWidth = (to) =>
  1.4 + (data.states ? ((outline ? 4 : 10) * nodes[to].visits) / data.states : 0);

function laidOutList(folded) {
  const boxes = [], edges = [];
  const { rules, otherwise } = data.list;
  const right = rowWidth + 48;
  let y = 0;
  for (let row = 0; row < rules.length; row++) {
    const { node, answer, leaf } = rules[row];
    const height = leafHeight(leaf), middle = y + height / 2;
    boxes.push({
      at: node, x: 0, y, width: rowWidth, height, answer, start: row ? "else if" : "if",
    });
    if (folded.has(node)) return { boxes, edges };
    boxes.push({ at: leaf, x: right, y, width: leafWidth, height });
    edges.push({ from: node, to: leaf, d: `M${rowWidth},${middle}H${right}` });
    const to = row + 1 < rules.length ? rules[row + 1].node : otherwise;
    edges.push({ from: node, to, d: `M${rowWidth / 2},${y + height}v${BETWEEN}` });
    y += height + BETWEEN;
  }
  const height = leafHeight(otherwise), level = y + height / 2;
  boxes.push({ at: otherwise, x: right, y, width: leafWidth, height, otherwise: rowWidth });
  edges.push({ from: otherwise, to: otherwise, d: `M${rowWidth},${level}H${right}` });
  return { boxes, edges };
}
