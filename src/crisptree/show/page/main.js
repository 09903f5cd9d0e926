// The page: tools, search, keys, theme, print.

let matches = [];

function search(query) {
  const wanted = query.trim().toLowerCase();
  const plain = (text) => text.replace(/−/g, "-").toLowerCase();
  matches = !wanted ? [] : nodes.map((node, at) => at).filter((at) =>
    plain(`${wordsOf(at)} ${wordsOf(at, false)} ${nodes[at].where}`).includes(plain(wanted)));
  const own = matches.filter((at) => plain(wordsOf(at)).includes(plain(wanted)));
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

byId("search").addEventListener("input", (event) => search(event.target.value));
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") nextMatch();
});
byId("collapse").addEventListener("click", () => foldTo(2));
byId("deeper").addEventListener("click", () => foldTo(openDepth() + 1));
byId("expand").addEventListener("click", () => foldTo(Infinity));
for (const id of ["collapse", "deeper", "expand"]) byId(id).hidden = Boolean(data.list) || nodes.length < 9;
byId("larger").addEventListener("click", () => zoom(1.3));
byId("smaller").addEventListener("click", () => zoom(1 / 1.3));
byId("layout").hidden = Boolean(data.list) || nodes.length < 9;
byId("layout").textContent = outline ? "Tree" : "Outline";
byId("layout").addEventListener("click", () => {
  outline = !outline;
  byId("layout").textContent = outline ? "Tree" : "Outline";
  draw();
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
let started = false;
new ResizeObserver(() => {
  home();
  if (started) follow();
  started = true;
}).observe(svg);

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

fillInputs();
fillRules();
fillLegend();
draw();
home();
tell(0);
fillReplay();
if (!episodes.length) observe(observation);
if (data.training) {
  byId("training").hidden = false;
  byId("training").querySelector("pre").textContent = data.training;
}
