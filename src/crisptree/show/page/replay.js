// The replay: recorded episodes, stepped through like a video, with the path lit at every step.

const numbers = (base64) => new Float64Array(bytesOf(base64).buffer);
const episodes = data.episodes.map((episode) => {
  const bytes = bytesOf(episode.observations).buffer, width = features.length;
  const flat = episode.single ? new Float32Array(bytes) : new Float64Array(bytes);
  const rows = [];
  for (let at = 0; at < flat.length; at += width) rows.push(flat.subarray(at, at + width));
  // By agent, then by step.
  const observations = Array.from({ length: episode.agents }, (_, agent) =>
    rows.filter((_, at) => at % episode.agents === agent));
  const returns = [0];
  for (const reward of numbers(episode.rewards)) returns.push(returns[returns.length - 1] + reward);
  return { ...episode, observations, returns, video: episode.video && new Video(episode.video) };
});
let playing = null;
let current = { episode: 0, step: 0, agent: 0 };
let asked = 0;

/** The last observation of an episode is one after the last decision. */
const lastStep = (episode) => episodes[episode].observations[0].length - 1;

function seek(step) {
  const episode = episodes[current.episode];
  current.step = Math.max(0, Math.min(step, lastStep(current.episode)));
  byId("scrub").value = current.step;
  observe([...episode.observations[current.agent][current.step]]);
  const over = current.step === lastStep(current.episode);
  byId("progress").textContent =
    `step ${current.step} of ${lastStep(current.episode)}; return so far `
    + `${short(episode.returns[current.step])} of ${short(episode.returns[episode.returns.length - 1])}`
    + (over ? `; the episode ${episode.ended}` : "");
  drawStrip();
  paint(episode);
}

/** Frames come when they are inflated; one that is no longer asked for is not painted over. */
async function paint(episode) {
  const canvas = byId("picture");
  if (!episode.video) return;
  const ticket = ++asked;
  const frame = Math.min(Math.floor(current.step / episode.stride), episode.video.length - 1);
  await episode.video.chunk(Math.floor(frame / data.chunk));
  if (ticket !== asked) return;
  if (canvas.width !== episode.video.width || canvas.height !== episode.video.height) {
    canvas.width = episode.video.width;
    canvas.height = episode.video.height;
  }
  await episode.video.paint(canvas.getContext("2d"), frame);
  canvas.dataset.frame = frame;
}

/** Every decision of the episode as a stripe of its action's colour (of several numbers, as many
 *  stripes one above the other), and where we are. */
function drawStrip() {
  const strip = byId("strip"), episode = episodes[current.episode], height = strip.height;
  strip.width = Math.max(strip.clientWidth, 200);
  const pen = strip.getContext("2d");
  const count = lastStep(current.episode), wide = strip.width / Math.max(count, 1);
  episode.colours ??= episode.observations.map((seen) => seen.slice(0, count).map(coloursAt));
  episode.colours[current.agent].forEach((colours, at) => {
    colours.forEach((colour, row) => {
      pen.fillStyle = colour;
      pen.fillRect(at * wide, (row * height) / colours.length, Math.ceil(wide), height / colours.length);
    });
  });
  pen.fillStyle = getComputedStyle(document.body).color;
  pen.fillRect(Math.min(current.step * wide, strip.width - 2) - 1, 0, 3, height);
}

function pause() {
  if (playing !== null) cancelAnimationFrame(playing);
  playing = null;
  byId("play").textContent = "Play";
}

function play() {
  if (!episodes.length) return;
  if (playing !== null) { pause(); return; }
  if (current.step === lastStep(current.episode)) seek(0);
  byId("play").textContent = "Pause";
  let last = performance.now();
  const tick = (now) => {
    const due = Math.floor(((now - last) / 1000) * data.fps * +byId("speed").value);
    if (due > 0) {
      last = now;
      seek(current.step + due);
    }
    if (current.step === lastStep(current.episode)) pause();
    else playing = requestAnimationFrame(tick);
  };
  playing = requestAnimationFrame(tick);
}

function choose(episode) {
  pause();
  current = { ...current, episode, step: 0 };
  byId("scrub").max = lastStep(episode);
  seek(0);
}

function fillReplay() {
  const note = byId("note");
  note.textContent = data.note;
  note.hidden = !data.note;
  if (!episodes.length) return;
  byId("strip").height = actions.kind === "box" ? Math.max(14, 8 * actions.names.length) : 14;
  byId("player").hidden = false;
  byId("picture").hidden = !episodes.some((episode) => episode.video);
  byId("episode").replaceChildren(...episodes.map((episode, at) => element("option",
    { value: at, title: `seed ${episode.seed}` },
    `ep. ${at + 1}: ${short(episode.returns[episode.returns.length - 1])}`)));
  byId("episode").addEventListener("change", (event) => choose(+event.target.value));
  const agents = byId("agent");
  agents.hidden = episodes[0].agents === 1;
  agents.replaceChildren(...episodes[0].observations.map((_, at) =>
    element("option", { value: at }, `agent ${at + 1}`)));
  agents.addEventListener("change", (event) => {
    current.agent = +event.target.value;
    seek(current.step);
  });
  byId("scrub").addEventListener("input", (event) => { pause(); seek(+event.target.value); });
  byId("play").addEventListener("click", play);
  byId("back").addEventListener("click", () => { pause(); seek(current.step - 1); });
  byId("on").addEventListener("click", () => { pause(); seek(current.step + 1); });
  byId("strip").addEventListener("click", (event) => {
    pause();
    seek(Math.round((event.offsetX / event.target.clientWidth) * lastStep(current.episode)));
  });
  choose(0);
}
