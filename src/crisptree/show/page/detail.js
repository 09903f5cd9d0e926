// What one node says: its rule in words, how many states pass it, which values they have there.
// The legend, and the table of rules.

function tell(at) {
  const node = nodes[at], leaf = isLeaf(at);
  const name = leaf ? node.text : node.flag ? node.question : `${node.answers[1]}?`;
  const lines = [element("p", {}, element("strong", {}, name))];
  const line = (text) => lines.push(element("p", {}, text));
  if (leaf) line(node.where ? `if ${node.where}` : "always");
  else line(`${node.where ? `reached if ${node.where}` : "reached always"}; the threshold is exactly ${node.exact}`);
  if (node.visits !== null) {
    line(`${node.visits.toLocaleString("en")} of ${counted(data.states, "recorded state")} `
      + `(${percent(node.visits)}) ${leaf ? "end here" : "pass"}`);
  }
  const picture = leaf || !node.histogram ? [] : [histogram(node)];
  if (!leaf) lines.push(element("p", {}, foldButton(at)));
  byId("detail").replaceChildren(element("div", {}, ...lines), ...picture);
}

/** For fingers, which have no double click. */
function foldButton(at) {
  const isFolded = folded.has(at);
  const button = element("button", { class: "small" },
    isFolded ? `Unfold ${counted(leavesBelow[at], "leaf", "leaves")}` : "Fold");
  button.addEventListener("click", () => toggle(at));
  return button;
}

/** The values of a node's feature in the states that pass, and where the threshold lies. */
function histogram(node) {
  const [low, high, below, above] = node.histogram;
  const width = 240, height = 64, wide = width / below.length;
  const most = Math.max(...below.map((count, at) => count + above[at]));
  const bars = below.flatMap((count, at) => {
    const tall = (n) => (n * height) / most;
    const bar = (n, start, side) => shape("rect", {
      class: side, x: at * wide, width: wide - 1, y: height - start - tall(n), height: tall(n),
    });
    return [bar(count, 0, "no"), bar(above[at], tall(count), "yes")];
  });
  const share = shareOf(node.threshold, low, high);
  const marks = share >= 0 && share <= 1
    ? [shape("line", { x1: share * width, x2: share * width, y1: -4, y2: height })] : [];
  const yes = nodes[node.yes].visits, no = nodes[node.no].visits;
  const said = `yes ${yes.toLocaleString("en")}, no ${no.toLocaleString("en")}`;
  const name = features[node.feature].name;
  return element("figure", { class: "histogram" },
    shape("svg", {
      viewBox: `0 -6 ${width} ${height + 7}`, role: "img", "aria-label": `${name}: ${said}`,
    }, ...bars, ...marks),
    element("figcaption", {},
      element("span", {}, short(low)), element("span", { class: "key" },
        element("i", { class: "no" }), `no ${no.toLocaleString("en")}`,
        element("i", { class: "yes" }), `yes ${yes.toLocaleString("en")}`),
      element("span", {}, short(high))));
}

function fillLegend() {
  const entries = data.legend.map((entry) => {
    if (!entry.colours) return pill(entry, entry.label);
    const stops = entry.colours.join(", ");
    return element("span", { class: "scale" }, `${entry.label} ${entry.low} `,
      element("i", { style: [["background", `linear-gradient(to right, ${stops})`]] }), ` ${entry.high}`);
  });
  const notes = actions.note ? [actions.note] : [];
  if (data.states) notes.push(`the wider a line, the more of ${counted(data.states, "state")} go along it`);
  if (folded.size) notes.push("click “+ leaves” to unfold");
  byId("legend").replaceChildren(...entries, element("span", { class: "soft" }, notes.join("; ")));
}

/** The table of rules: one a leaf, TRUE branches first, or the list in its order. */
const ruleRows = new Map();
function fillRules() {
  const rows = data.rules.map(({ leaf, text }, at) => {
    const { visits } = nodes[leaf];
    const row = element("tr", { "data-leaf": leaf },
      element("td", { class: "count" }, String(at + 1)),
      element("td", {}, data.list ? text : text.replace(/^if /, "")),
      element("td", {}, pill(nodes[leaf], nodes[leaf].text)),
      element("td", { class: "count" }, visits === null ? "" : visits.toLocaleString("en")),
      element("td", { class: "count" }, visits === null ? "" : percent(visits)));
    row.addEventListener("click", () => { focusOn(leaf); tell(leaf); });
    ruleRows.set(leaf, row);
    return row;
  });
  byId("rules").classList.toggle("uncounted", !data.states);
  byId("rules").tBodies[0].replaceChildren(...rows);
}

function lightRule(leaf) {
  for (const [at, row] of ruleRows) row.classList.toggle("lit", at === leaf);
}
