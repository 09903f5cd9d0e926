// The page: tools, search, keys, theme, print.

let matches = [];

function search(query) {
  const wanted = query.trim().toLowerCase();
  matches = !wanted ? [] : nodes.map((node, at) => at).filter((at) =>
    `${wordsOf(at)} ${wordsOf(at, false)} ${nodes[at].where}`.replace(/−/g, "-").toLowerCase()
      .includes(wanted.replace(/−/g, "-")));
  const own = matches.filter((at) => wordsOf(at).replace(/−/g, "-").toLowerCase().includes(wanted));
  if (own.length) matches = own;
  mark();
  byId("found").textContent = wanted ? String(matches.length) : "";
}

function mark() {
  const on = new Set(matches);
  for (const card of scene.querySelectorAll(".node")) {
    card.classList.toggle("found", on.has(+card.dataset.node));
  }
}

function nextMatch() {
  if (!matches.length) return;
  const after = matches.find((at) => at > focused);
  focusOn(after ?? matches[0]);
  mark();
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function foldBelow(depth) {
  folded.clear();
  for (const [at, level] of visible(folded)) if (level === depth && !isLeaf(at)) folded.add(at);
  draw();
  mark();
  home();
}

byId("search").addEventListener("input", (event) => search(event.target.value));
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") nextMatch();
});
byId("collapse").addEventListener("click", () => foldBelow(2));
byId("expand").addEventListener("click", () => foldBelow(Infinity));
byId("larger").addEventListener("click", () => zoom(1.3));
byId("smaller").addEventListener("click", () => zoom(1 / 1.3));
byId("layout").hidden = Boolean(data.chain) || nodes.length < 5;
byId("layout").textContent = outline ? "Tree" : "Outline";
byId("layout").addEventListener("click", () => {
  outline = !outline;
  byId("layout").textContent = outline ? "Tree" : "Outline";
  draw();
  mark();
  home();
});
byId("fit").addEventListener("click", fit);
byId("print").addEventListener("click", () => window.print());
byId("theme").textContent = isDark() ? "Light" : "Dark";
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  if (episodes.length) drawStrip();
});
// On paper the drawing is as large as the sheet allows.
window.addEventListener("beforeprint", () => show(bounds));
window.addEventListener("afterprint", home);
// Not the window's size, which on a phone changes whenever its bars come and go.
new ResizeObserver(() => { home(); follow(); }).observe(svg);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) return;
  const keys = {
    "/": () => byId("search").focus(),
    "+": () => zoom(1.3),
    "=": () => zoom(1.3),
    "-": () => zoom(1 / 1.3),
    0: fit,
    ",": () => { pause(); if (episodes.length) seek(current.step - 1); },
    ".": () => { pause(); if (episodes.length) seek(current.step + 1); },
    " ": () => { if (!event.target.matches("button, summary")) play(); else return true; },
  };
  if (!(event.key in keys)) return;
  if (!keys[event.key]()) event.preventDefault();
});

fillSliders();
fillRules();
draw();
home();
tell(0);
fillReplay();
if (!episodes.length) observe(observation);
if (data.training) {
  byId("training").hidden = false;
  byId("training").querySelector("pre").textContent = data.training;
}
