// What part of the drawing is seen: zoom and pan, by wheel, pointer and fingers.

let view = { x: 0, y: 0, width: 1, height: 1 };

function show(box) {
  view = box;
  svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
}

/** How large the whole drawing can be shown, at most half as large again as its natural size. */
function wholeScale() {
  return Math.min(svg.clientWidth / bounds.width, svg.clientHeight / bounds.height, 1.5);
}

/** The whole drawing, however small. */
function fit() {
  const scale = wholeScale();
  const [width, height] = [svg.clientWidth / scale, svg.clientHeight / scale];
  const [x, y] = [bounds.x + (bounds.width - width) / 2, bounds.y + (bounds.height - height) / 2];
  show({ x, y, width, height });
}

/** Outlines, and drawings too large to be read whole, are read part by part. */
const isScroll = () => outline || wholeScale() < LEAST_SCALE;

/** The view to start with: the whole or, where that could not be read, the part at the root. */
function home() {
  if (!isScroll()) { fit(); return; }
  const fitting = Math.min(svg.clientWidth / bounds.width, 1);
  const scale = Math.max(fitting, 0.7);
  const [width, height] = [svg.clientWidth / scale, svg.clientHeight / scale];
  const root = placeOf(0);
  const free = (start, whole, seen, wanted) =>
    whole <= seen ? start + (whole - seen) / 2 : Math.max(start, Math.min(wanted, start + whole - seen));
  show({
    x: outline || data.list ? bounds.x : free(bounds.x, bounds.width, width, root.x + root.width / 2 - (data.downwards ? width / 2 : width / 6)),
    y: outline || data.list ? bounds.y
      : free(bounds.y, bounds.height, height, root.y + root.height / 2 - height / 2),
    width, height,
  });
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
  const place = placeOf(at);
  if (!place) return;
  show({
    ...view,
    x: shifted(view.x, view.width, place.x, place.width, bounds.x, bounds.width),
    y: shifted(view.y, view.height, place.y, place.height, bounds.y, bounds.height),
  });
}

/** Where the view begins along one axis so that a node is in its middle, without showing more of
 *  the empty space around the drawing; as it was, if the node is seen already. */
function shifted(seen, size, node, length, start, whole) {
  if (node >= seen && node + length <= seen + size) return seen;
  const wanted = node + length / 2 - size / 2;
  return whole <= size ? wanted : Math.max(start, Math.min(wanted, start + whole - size));
}

/** Where not all is seen, keep the end of the lit path in sight. */
function follow() {
  if (!lit.length || !isScroll()) return;
  bringIntoView([...lit].reverse().find((at) => boxOf(at)));
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
