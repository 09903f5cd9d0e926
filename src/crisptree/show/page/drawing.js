// The drawing: boxes and edges, folding, the lit path, keyboard and pointer.

const svg = byId("drawing"), scene = byId("scene");
svg.classList.toggle("list", data.list !== null);
const MOST_LEAVES_OPEN = 16, MOST_ROWS_OPEN = 28, READABLE_SCALE = 0.7, LEAST_SCALE = 0.55;
let lit = [];
let focused = 0;
let outline = !data.list && nodes.length > 8 && svg.clientWidth < 560;
let folded = foldedBelow(readableDepth());
let bounds = { x: 0, y: 0, width: 1, height: 1 };

/** The deepest level to which a large tree can be opened and still be read whole; a small one is
 *  open. */
function readableDepth() {
  if (data.list) return Infinity;
  const whole = new Set(), isSmall = leaves.length <= MOST_LEAVES_OPEN;
  if (isSmall && (outline || scaleOf(laidOut(whole, false).boxes, whole) >= LEAST_SCALE)) return Infinity;
  let depth = 2;
  while (isReadable(foldedBelow(depth + 1))) depth++;
  return depth;
}

function isReadable(closed) {
  if (!closed.size) return false;
  const { boxes } = laidOut(closed, outline);
  if (outline) return boxes.length <= MOST_ROWS_OPEN;
  return scaleOf(boxes, closed) >= READABLE_SCALE;
}

/** The inner nodes at a depth: folded, they hide all that is below it. */
function foldedBelow(depth) {
  return new Set(visible(new Set()).filter(([at, level]) => level === depth && !isLeaf(at))
    .map(([at]) => at));
}

/** How deep the drawing is open. */
const openDepth = () => Math.max(...visible(folded).map(([, depth]) => depth));

function draw() {
  const { boxes, edges } = laidOut(folded, outline);
  scene.replaceChildren(...edges.flatMap(drawnEdge), ...boxes.flatMap(drawnBox));
  bounds = extentOf(boxes, folded);
  light(lit);
  mark();
  tabStop(boxes.some((box) => box.at === focused) ? focused : 0);
}

function drawnEdge({ from, to, d, word, x, y, anchor }) {
  const width = edgeWidth(to).toFixed(2);
  const line = shape("path", {
    class: "edge", d, "data-from": from, "data-to": to, style: [["--width", `${width}px`]],
  });
  if (!word) return [line];
  return [line, shape("text", { class: "word", x, y, "text-anchor": anchor }, word)];
}

function drawnBox(box) {
  const { at, x, y, width, height } = box;
  const node = nodes[at], leaf = isLeaf(at), middle = y + height / 2 + 5;
  const label = leaf ? `then ${node.text}` : `${wordsOf(at, box.answer ?? true)}?`;
  const group = shape("g", {
    class: `node ${leaf ? "leaf" : "inner"}${node.border ? " dashed" : ""}`, "data-node": at, role: "treeitem", tabindex: "-1",
    "aria-label": label, "aria-expanded": leaf ? null : String(!folded.has(at)),
    style: leaf ? coloured(node) : [],
  });
  const lines = box.lines ?? node.lines;
  const radius = leaf ? (lines.length > 1 ? 10 : height / 2) : 8;
  group.append(shape("rect", { class: "box", x, y, width, height, rx: radius }));
  const words = (text, at, anchor, style, level = middle) =>
    group.append(shape("text", { x: at, y: level, "text-anchor": anchor, class: style }, text));
  const centre = x + width / 2;
  if (leaf) {
    group.append(...leafLines(lines, x, y, centre));
  } else if (data.list || box.flat) {
    words(box.flat ? outlineName(at) : featureNames[node.feature], x + PADDING, "start", "");
    const test = box.flat ? askOf(at) : testOf(at, box.answer ?? true);
    words(test, x + width - PADDING, "end", "strong");
  } else {
    box.names.forEach((name, row) => words(name, centre, "middle", "", y + 19 + row * TEXT_LINE));
    words(askOf(at), centre, "middle", "strong", y + 18 + box.names.length * TEXT_LINE);
  }
  if (!leaf && folded.has(at)) group.append(badge(at, box));
  if (box.start) {
    return [shape("text", { class: "word", x: x - 9, y: middle, "text-anchor": "end" }, box.start), group];
  }
  if (box.otherwise) {
    const rest = shape("rect", { class: "rest", x: 0, y, width: box.otherwise, height, rx: 8 });
    return [rest, shape("text", { class: "word", x: PADDING, y: middle }, "otherwise"), group];
  }
  return [group];
}

function leafLines(lines, x, y, centre) {
  return lines.flatMap(([text, swatch], row) => {
    const level = y + ROW_HEIGHT / 2 + row * TEXT_LINE + 5;
    if (!hasSwatches) return [shape("text", { x: centre, y: level, "text-anchor": "middle" }, text)];
    const words = shape("text", { x: x + PADDING + SWATCH, y: level }, text);
    const square = { x: x + PADDING, y: level - 10, width: 11, height: 11, fill: swatch };
    return swatch ? [shape("rect", { class: "swatch", ...square }), words] : [words];
  });
}

/** How many leaves a folded node hides; a click opens it. */
function badge(at, { x, y, width, height }) {
  const text = `+ ${counted(leavesBelow[at], "leaf", "leaves")}`, wide = textWidth(text) * 0.86 + 16;
  const below = data.list || (data.downwards && !outline);
  const left = below ? x + width / 2 - wide / 2 : x + width + 6;
  const top = below ? y + height + 5 : y + height / 2 - 11;
  return shape("g", { class: "badge" },
    shape("rect", { x: left, y: top, width: wide, height: 22, rx: 11 }),
    shape("text", { x: left + wide / 2, y: top + 15, "text-anchor": "middle" }, text));
}

const boxOf = (at) => scene.querySelector(`[data-node="${at}"]`);

/** Light the path: its nodes, and the edges between them. */
function light(path) {
  lit = path;
  svg.classList.toggle("traced", path.length > 0);
  const on = new Set(path);
  for (const box of scene.querySelectorAll(".node")) {
    box.classList.toggle("lit", on.has(+box.dataset.node));
  }
  for (const edge of scene.querySelectorAll(".edge")) {
    const { from, to } = edge.dataset;
    edge.classList.toggle("lit", on.has(+from) && on.has(+to));
  }
}

function tabStop(at) {
  for (const box of scene.querySelectorAll('[tabindex="0"]')) box.setAttribute("tabindex", "-1");
  focused = at;
  boxOf(at)?.setAttribute("tabindex", "0");
}

function focusOn(at) {
  let changed = false;
  for (let up = parentOf[at]; up >= 0; up = parentOf[up]) changed = folded.delete(up) || changed;
  if (changed) draw();
  tabStop(at);
  boxOf(at)?.focus({ preventScroll: true });
  bringIntoView(at);
}

/** Fold or unfold one node; it stays where it is on the screen. */
function toggle(at) {
  if (isLeaf(at)) return;
  const before = placeOf(at);
  if (!folded.delete(at)) folded.add(at);
  draw();
  const after = placeOf(at);
  show({ ...view, x: view.x + after.x - before.x, y: view.y + after.y - before.y });
  boxOf(at)?.focus({ preventScroll: true });
  tell(at);
}

function placeOf(at) {
  const rect = boxOf(at)?.querySelector(".box");
  if (!rect) return null;
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => +rect.getAttribute(name));
  return { x, y, width, height };
}

function foldTo(depth) {
  folded = foldedBelow(depth);
  draw();
  home();
}

const nodeOf = (event) => {
  const box = event.target.closest?.(".node");
  return box ? +box.dataset.node : null;
};
svg.addEventListener("pointerover", (event) => {
  const at = nodeOf(event);
  if (at !== null) tell(at);
});
svg.addEventListener("focusin", (event) => {
  const at = nodeOf(event);
  if (at !== null) { tabStop(at); tell(at); }
});
svg.addEventListener("dblclick", (event) => {
  const at = nodeOf(event);
  if (at !== null && !event.target.closest(".badge")) toggle(at);
});
svg.addEventListener("click", (event) => {
  const at = nodeOf(event);
  if (at === null) return;
  if (event.target.closest(".badge")) { toggle(at); return; }
  tabStop(at);
  boxOf(at).focus({ preventScroll: true });
  tell(at);
});

/** Arrow keys as in any tree: up and down through what is visible, left to the parent or to fold,
 *  right to unfold or to the first side. */
svg.addEventListener("keydown", (event) => {
  const order = visible(folded).map(([at]) => at);
  const here = order.indexOf(focused);
  const steps = {
    ArrowDown: () => order[here + 1],
    ArrowUp: () => order[here - 1],
    Home: () => order[0],
    End: () => order[order.length - 1],
    ArrowLeft: () => {
      if (isLeaf(focused) || folded.has(focused)) return parentOf[focused];
      toggle(focused);
    },
    ArrowRight: () => {
      if (isLeaf(focused)) return undefined;
      if (!folded.has(focused)) return nodes[focused].yes;
      toggle(focused);
    },
    Enter: () => { toggle(focused); },
    " ": () => { toggle(focused); },
  };
  if (!(event.key in steps)) return;
  event.preventDefault();
  event.stopPropagation();
  const next = steps[event.key]();
  if (next !== undefined && next >= 0) focusOn(next);
});
