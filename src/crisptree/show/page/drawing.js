// The drawing: cards and edges, folding, zoom and pan, the lit path, keyboard and pointer.

const svg = byId("drawing"), scene = byId("scene");
svg.classList.toggle("list", data.chain !== null);
const folded = new Set();
let lit = [];
let focused = 0;
let outline = !data.chain && nodes.length > 8 && svg.clientWidth < 560;
let view = { x: 0, y: 0, width: 1, height: 1 };
let bounds = view;

function draw() {
  const { cards, edges } = laidOut(folded, outline);
  scene.replaceChildren(...edges.flatMap(drawnEdge), ...cards.flatMap(drawnCard));
  const left = data.chain ? -58 : 0;
  const xs = cards.map((card) => card.x), ys = cards.map((card) => card.y);
  bounds = { x: Math.min(left, ...xs) - 12, y: Math.min(...ys) - 12 };
  bounds.width = Math.max(...cards.map((card) => card.x + card.width)) + 12 - bounds.x;
  bounds.height = Math.max(...cards.map((card) => card.y + card.height)) + 12 - bounds.y;
  light(lit);
  tabStop(cards.some((card) => card.at === focused) ? focused : 0);
}

function drawnEdge({ from, to, d, word, x, y, anchor }) {
  const line = shape("path", { class: "edge", d, "data-from": from, "data-to": to });
  if (!word) return [line];
  return [line, shape("text", { class: "word", x, y, "text-anchor": anchor }, word)];
}

function drawnCard(card) {
  const { at, x, y, width, height } = card;
  const node = nodes[at], leaf = node.feature < 0, middle = y + height / 2 + 5;
  const label = leaf ? `then ${data.actions[node.action]}` : `${wordsOf(at, card.answer ?? true)}?`;
  const group = shape("g", {
    class: `node ${leaf ? "leaf" : "inner"}`, "data-node": at, role: "treeitem", tabindex: "-1",
    "aria-label": label, "aria-expanded": leaf ? null : String(!folded.has(at)),
    style: leaf ? coloured(node.action) : [],
  });
  const radius = leaf ? height / 2 : 8;
  group.append(shape("rect", { x, y, width, height, rx: radius }));
  const words = (text, at, anchor, style, level = middle) =>
    group.append(shape("text", { x: at, y: level, "text-anchor": anchor, class: style }, text));
  const centre = x + width / 2;
  if (leaf) {
    words(actionNames[node.action], centre, "middle", "");
  } else if (data.chain || card.flat) {
    words(featureNames[node.feature], x + PADDING, "start", "");
    const sign = card.answer ?? true ? ">" : "≤";
    words(`${sign} ${minus(node.shown)}`, x + width - PADDING, "end", "strong");
  } else {
    words(featureNames[node.feature], centre, "middle", "", y + 19);
    words(`> ${minus(node.shown)}`, centre, "middle", "strong", y + 37);
  }
  if (!leaf && folded.has(at)) {
    const hidden = `+ ${leavesBelow[at]} leaves`;
    if (data.chain || (data.downwards && !outline)) words(hidden, centre, "middle", "badge", y + height + 16);
    else words(hidden, x + width + 8, "start", "badge");
  }
  if (card.start) {
    return [shape("text", { class: "word", x: x - 9, y: middle, "text-anchor": "end" }, card.start), group];
  }
  if (card.otherwise) {
    const rest = shape("rect", { class: "rest", x: 0, y, width: card.otherwise, height, rx: 8 });
    return [rest, shape("text", { class: "word", x: PADDING, y: middle }, "otherwise"), group];
  }
  return [group];
}

const cardOf = (at) => scene.querySelector(`[data-node="${at}"]`);

/** Light the path: its nodes, and the edges between them. */
function light(path) {
  lit = path;
  svg.classList.toggle("traced", path.length > 0);
  const on = new Set(path);
  for (const card of scene.querySelectorAll(".node")) {
    card.classList.toggle("lit", on.has(+card.dataset.node));
  }
  for (const edge of scene.querySelectorAll(".edge")) {
    const { from, to } = edge.dataset;
    edge.classList.toggle("lit", on.has(+from) && on.has(+to));
  }
}

function tabStop(at) {
  for (const card of scene.querySelectorAll('[tabindex="0"]')) card.setAttribute("tabindex", "-1");
  focused = at;
  cardOf(at)?.setAttribute("tabindex", "0");
}

function focusOn(at) {
  let changed = false;
  for (let up = parentOf[at]; up >= 0; up = parentOf[up]) changed = folded.delete(up) || changed;
  if (changed) draw();
  tabStop(at);
  cardOf(at)?.focus({ preventScroll: true });
  bringIntoView(at);
}

function toggle(at) {
  if (isLeaf(at)) return;
  if (!folded.delete(at)) folded.add(at);
  draw();
  cardOf(at)?.focus({ preventScroll: true });
  home();
  bringIntoView(at);
}

function show(box) {
  view = box;
  svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
}

/** How large the whole drawing can be shown, at most twice its natural size. */
function wholeScale() {
  return Math.min(svg.clientWidth / bounds.width, svg.clientHeight / bounds.height, 2);
}

function fit() {
  const scale = wholeScale();
  const [width, height] = [svg.clientWidth / scale, svg.clientHeight / scale];
  const [x, y] = [bounds.x + (bounds.width - width) / 2, bounds.y + (bounds.height - height) / 2];
  show({ x, y, width, height });
}

/** Outlines and long lists are read from the top, line by line, and follow the path. */
const isScroll = () => outline || (data.chain !== null && wholeScale() < 0.75);

/** The view to start with: the whole, or of a scroll the top. */
function home() {
  if (!isScroll()) { fit(); return; }
  const scale = Math.max(wholeScale(), Math.min(svg.clientWidth / bounds.width, 1));
  const [width, height] = [svg.clientWidth / scale, svg.clientHeight / scale];
  show({ x: bounds.x + (bounds.width - width) / 2, y: bounds.y, width, height });
}

function zoom(factor, x = view.x + view.width / 2, y = view.y + view.height / 2) {
  const width = Math.min(Math.max(view.width / factor, 80), bounds.width * 8 + 800);
  const ratio = width / view.width;
  show({
    x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio,
    width, height: view.height * ratio,
  });
}

function bringIntoView(at) {
  const rect = cardOf(at)?.querySelector("rect");
  if (!rect) return;
  const [x, y] = ["x", "y"].map((name) => +rect.getAttribute(name));
  const [w, h] = ["width", "height"].map((name) => +rect.getAttribute(name));
  const inside = x >= view.x && y >= view.y && x + w <= view.x + view.width && y + h <= view.y + view.height;
  if (!inside) show({ ...view, x: x + w / 2 - view.width / 2, y: y + h / 2 - view.height / 2 });
}

/** In a scroll, keep the leaf that was reached in sight. */
function follow() {
  if (lit.length && isScroll()) bringIntoView(lit[lit.length - 1]);
}

function inDrawing(event) {
  const box = svg.getBoundingClientRect();
  return [
    view.x + ((event.clientX - box.left) / box.width) * view.width,
    view.y + ((event.clientY - box.top) / box.height) * view.height,
  ];
}

const held = new Map();
svg.addEventListener("pointerdown", (event) => {
  held.set(event.pointerId, event);
  if (!event.target.closest(".node")) svg.setPointerCapture(event.pointerId);
  svg.classList.add("held");
});
svg.addEventListener("pointermove", (event) => {
  const before = held.get(event.pointerId);
  if (!before) return;
  const others = [...held.values()].filter((each) => each.pointerId !== event.pointerId);
  held.set(event.pointerId, event);
  if (others.length) {
    const apart = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    const [x, y] = inDrawing(others[0]);
    zoom(apart(event, others[0]) / Math.max(apart(before, others[0]), 1), x, y);
    return;
  }
  const scale = view.width / svg.getBoundingClientRect().width;
  show({
    ...view,
    x: view.x - (event.clientX - before.clientX) * scale,
    y: view.y - (event.clientY - before.clientY) * scale,
  });
});
for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
  svg.addEventListener(name, (event) => {
    held.delete(event.pointerId);
    svg.classList.toggle("held", held.size > 0);
  });
}
svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * 0.0015), ...inDrawing(event));
}, { passive: false });

const nodeOf = (event) => {
  const card = event.target.closest?.(".node");
  return card ? +card.dataset.node : null;
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
  if (at !== null) toggle(at);
});
svg.addEventListener("click", (event) => {
  const at = nodeOf(event);
  if (at !== null) { tabStop(at); cardOf(at).focus({ preventScroll: true }); tell(at); }
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
