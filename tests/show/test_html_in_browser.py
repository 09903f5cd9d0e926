"""The page in a real browser: Chromium, driven by its own driver."""

import shutil
import tempfile

import numpy as np
import pytest
from sample_trees import CAR, EXTREME, FLAGS, LIST, PENDULUM, TREE, TWO_ENGINES, cart_pole

from crisptree.crisp import CrispTree
from crisptree.show.html import NO_RECORDING, as_html
from crisptree.show.recording import RecordedEpisode, Recording
from crisptree.show.video import VideoEncoder

webdriver = pytest.importorskip("selenium.webdriver")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs Debian's chromium and chromium-driver"
)
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--window-size=1300,900",
)


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        driver.set_script_timeout(600)  # a busy machine is no fault of the page
        yield driver
        driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a tree; whatever it then says on the console is a failure."""

    def open_page(tree, recording=NO_RECORDING, width=1300, height=900, states=None, **media):
        page = as_html(tree, recording=recording, states=states)
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": name.replace("_", "-"), "value": v} for name, v in media.items()]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get((tmp_path / "page.html").as_uri())
        return browser

    browser.get_log("browser")
    yield open_page
    said = [entry["message"] for entry in browser.get_log("browser")]
    # That reading pixels often is slow concerns the tests alone.
    assert [message for message in said if "willReadFrequently" not in message] == []


def grown(leaves, seed):
    rng = np.random.default_rng(seed)
    root: list = [0]
    ends = [root]
    for _ in range(leaves - 1):
        node = ends.pop(rng.integers(len(ends)))
        sides = [[int(rng.integers(2))] for _ in range(2)]
        node[:] = [int(rng.integers(4)), float(rng.normal(0, 0.3)), *sides]
        ends += sides
    plain = lambda node: node[0] if len(node) == 1 else (*node[:2], plain(node[2]), plain(node[3]))
    return cart_pole(plain(root))


def long_list(rules):
    nested: object = 0
    for at in range(rules):
        sides = (at % 2, nested) if at % 3 else (nested, at % 2)
        nested = (at % 4, (-1.0) ** at * (at + 1) / 40, *sides)
    return cart_pole(nested)


TREES = {"4 leaves": grown(4, 1), "32 leaves": grown(32, 2), "16 rules": long_list(16)}

TYPE_AND_READ = """
const [states, used] = arguments;
const numbers = used.map((feature) => document.getElementById(`feature-${feature}`));
return states.map((state) => {
  used.forEach((feature, at) => {
    numbers[at].value = String(state[feature]);
    numbers[at].dispatchEvent(new Event("input"));
  });
  const lit = [...document.querySelectorAll(".node.lit")].map((node) => +node.dataset.node);
  const edges = document.querySelectorAll(".edge.lit").length;
  return [lit.sort((a, b) => a - b), edges, document.querySelector("#decision .pill").textContent];
});
"""


def states_for(tree, count):
    """Half anywhere, half with every number on a threshold or a float beside it."""
    rng = np.random.default_rng(0)
    found = rng.normal(0, 0.4, (count, 4))
    for feature in range(4):
        thresholds = tree.threshold[tree.feature == feature]
        if thresholds.size:
            on = rng.choice(thresholds, count // 2)
            side = rng.choice([-np.inf, np.inf], count // 2)
            found[: count // 2, feature] = np.where(
                rng.random(count // 2) < 0.4, on, np.nextafter(on, side)
            )
    return found


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_the_lit_path_is_the_decision_path_for_1000_states(opened, tree):
    page = opened(tree)
    page.execute_script("foldTo(Infinity)")
    states = states_for(tree, 1000)
    used = sorted(set(tree.feature[tree.feature >= 0].tolist()))
    shown = page.execute_script(TYPE_AND_READ, states.tolist(), used)
    for state, (lit, edges, action) in zip(states, shown, strict=True):
        path = tree.decision_path(state)
        assert lit == sorted(path)
        assert edges >= len(path) - 1
        assert action == tree.action_names[tree.predict(state)[0]]


def recorded(steps=70, agents=1):
    """An episode whose pictures are easily told apart."""
    rng = np.random.default_rng(4)
    encoder = VideoEncoder()
    for at in range(steps + 1):
        picture = np.full((40, 60, 3), 255, np.uint8)
        picture[5:15, at % 50 : at % 50 + 8] = (200, 16, 80)
        encoder.add(picture)
    observations = rng.normal(0, 0.3, (steps + 1, agents, 4)).astype(np.float32)
    rewards = rng.normal(size=steps)
    episode = RecordedEpisode(7, observations, rewards, "terminated", encoder.video())
    return Recording((episode,), 50.0)


SCRUB = """
const done = arguments[arguments.length - 1], step = arguments[0];
const scrub = document.getElementById("scrub"), picture = document.getElementById("picture");
scrub.value = step;
scrub.dispatchEvent(new Event("input"));
const wait = () => {
  if (picture.dataset.frame !== String(step)) { setTimeout(wait, 5); return; }
  const pixels = picture.getContext("2d").getImageData(0, 0, picture.width, picture.height).data;
  const lit = [...document.querySelectorAll(".node.lit")].map((node) => +node.dataset.node);
  done([[...pixels], lit.sort((a, b) => a - b), document.getElementById("progress").textContent]);
};
wait();
"""


def test_the_replay_goes_to_any_step(opened):
    recording = recorded()
    episode = recording.episodes[0]
    assert episode.video is not None
    frames = [episode.video.palette[frame] for frame in episode.video.frames()]
    page = opened(TREE, recording)
    for step in (0, 1, 31, 32, 69, 70, 5):
        pixels, lit, progress = page.execute_async_script(SCRUB, step)
        picture = np.array(pixels, np.uint8).reshape(40, 60, 4)
        assert np.array_equal(picture[..., :3], frames[step]) and (picture[..., 3] == 255).all()
        assert lit == sorted(TREE.decision_path(episode.observations[step, 0]))
        assert progress.startswith(f"step {step} of 70; return so far ")
    assert page.find_element("id", "scrub").get_attribute("max") == "70"


def test_every_agent_of_a_team_has_its_path(opened):
    recording = recorded(agents=3)
    page = opened(TREE, recording)
    page.execute_async_script(SCRUB, 40)
    for agent in (2, 0, 1):
        page.execute_script(
            "const agent = document.getElementById('agent'); agent.value = arguments[0];"
            "agent.dispatchEvent(new Event('change'))",
            agent,
        )
        lit = page.execute_script(
            "return [...document.querySelectorAll('.node.lit')].map((node) => +node.dataset.node)"
        )
        assert sorted(lit) == sorted(
            TREE.decision_path(recording.episodes[0].observations[40, agent])
        )
    assert page.execute_script("return data.states") == 3 * 70


def wait_for(page, script):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(page, 20).until(lambda driver: driver.execute_script(f"return {script}"))


def test_play_and_pause(opened):
    page = opened(TREE, recorded(steps=600))
    page.find_element("id", "play").click()
    assert wait_for(page, "+scrub.value > 3")
    page.find_element("id", "play").click()
    assert page.find_element("id", "play").text == "Play"
    page.execute_script("speed.value = '4'; play()")
    assert wait_for(
        page, "+scrub.value === 600 && document.getElementById('play').textContent === 'Play'"
    )
    assert "the episode terminated" in page.find_element("id", "progress").text


def test_visits_and_words_under_the_pointer(opened):
    from selenium.webdriver import ActionChains

    recording = recorded()
    page = opened(TREE, recording)
    ActionChains(page).move_to_element(
        page.find_element("css selector", '[data-node="1"]')
    ).perform()
    detail = page.find_element("id", "detail").text
    passing = sum(1 in TREE.decision_path(state) for state in recording.states)
    assert "pole angle > −0.0512?" in detail
    assert "reached if pole angular velocity > 0.242" in detail
    assert f"{passing} of 70 recorded states (20.0 %) pass" in detail
    counts = page.find_elements("css selector", "#rules td:nth-child(4)")
    assert sum(int(count.text) for count in counts) == 70
    detail = page.find_element("id", "detail")
    assert detail.find_element("tag name", "figure").text.startswith("pole angle\n")
    drawn = page.find_elements("css selector", "#detail .histogram rect")
    assert len(drawn) == 2 * 24
    caption = page.find_element("css selector", "#detail figcaption").text
    yes = sum(2 in TREE.decision_path(state) for state in recording.states)
    assert f"no {passing - yes}" in caption and f"yes {yes}" in caption


def test_a_leaf_has_its_side_of_the_histogram_before_it(opened):
    recording = recorded()
    page = opened(TREE, recording)
    page.execute_script("tell(2)")  # the TRUE side of node 1
    own = page.find_elements("css selector", "#detail .histogram rect.yes")
    other = page.find_elements("css selector", "#detail .histogram rect.other")
    assert len(own) == len(other) == 24
    passing = sum(2 in TREE.decision_path(state) for state in recording.states)
    assert f"{passing} of 70 recorded states" in page.find_element("id", "detail").text


def keys(page, *pressed):
    from selenium.webdriver import ActionChains

    for key in pressed:
        ActionChains(page).send_keys(key).perform()


def test_by_keyboard_alone(opened):
    from selenium.webdriver import Keys

    page = opened(TREE, recorded())
    here = "document.activeElement.dataset.node ?? document.activeElement.id"
    box = "drawing.getAttribute('viewBox')"
    keys(page, "/")
    assert page.execute_script(f"return {here}") == "search"
    keys(page, "position", Keys.ENTER)
    found = next(at for at, row in enumerate(TREE.nodes) if row[0] == 0)
    assert page.execute_script(f"return {here}") == str(found)
    assert page.find_element("id", "found").text == "1"
    keys(page, Keys.HOME)
    assert page.execute_script(f"return {here}") == "0"
    keys(page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.execute_script(f"return {here}") == str(TREE.nodes[1][2])
    keys(page, Keys.ARROW_LEFT)
    assert page.execute_script(f"return {here}") == "1"
    before = page.execute_script("return document.querySelectorAll('.node').length")
    keys(page, Keys.ENTER)
    assert page.execute_script("return document.querySelectorAll('.node').length") == before - 2
    assert (
        page.execute_script("return document.activeElement.getAttribute('aria-expanded')")
        == "false"
    )
    keys(page, Keys.ENTER)
    whole = page.execute_script(f"return {box}")
    keys(page, "+")
    assert page.execute_script(f"return {box}") != whole
    keys(page, "0")
    assert page.execute_script(f"return {box}") == whole
    keys(page, ".", ".", ",")
    assert page.execute_script("return scrub.value") == "1"
    reached = set()
    for _ in range(40):
        keys(page, Keys.TAB)
        reached.add(page.execute_script("return document.activeElement.id"))
    assert {
        "search",
        "collapse",
        "fit",
        "theme",
        "scrub",
        "play",
        "episode",
        "feature-2",
    } <= reached


def test_a_large_tree_opens_folded(opened):
    tree = TREES["32 leaves"]
    page = opened(tree)
    count = "return document.querySelectorAll('.node').length"
    open_at_first = page.execute_script(count)
    assert 7 <= open_at_first < tree.n_nodes
    assert page.execute_script("return wholeScale()") >= 0.69
    page.find_element("css selector", ".badge").click()
    assert page.execute_script(count) > open_at_first
    page.find_element("id", "collapse").click()
    assert page.execute_script(count) <= 7
    page.find_element("id", "deeper").click()
    assert 7 < page.execute_script(count) <= 15
    page.find_element("id", "expand").click()
    assert page.execute_script(count) == tree.n_nodes
    page.find_element("id", "layout").click()
    assert page.execute_script(count) == tree.n_nodes


def test_a_small_tree_opens_whole(opened):
    page = opened(grown(16, 3))
    assert page.execute_script("return document.querySelectorAll('.node').length") == 31


def test_the_folded_node_stays_where_it_is(opened):
    from selenium.webdriver import Keys

    page = opened(TREES["32 leaves"])
    place = "const box = boxOf(focused).querySelector('.box').getBoundingClientRect();"
    place += "return [box.x, box.y]"
    keys(page, "/")
    page.execute_script("focusOn([...folded][0])")
    before = page.execute_script(place)
    keys(page, Keys.ENTER)
    assert page.execute_script(place) == pytest.approx(before, abs=1)


def test_lines_are_as_wide_as_their_share_of_the_states(opened):
    recording = recorded()
    page = opened(TREE, recording)
    widths = page.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('.edge')]"
        ".map((edge) => [edge.dataset.to, parseFloat(edge.style.getPropertyValue('--width'))]))"
    )
    for node, width in widths.items():
        passing = sum(int(node) in TREE.decision_path(state) for state in recording.states)
        assert width == pytest.approx(1.4 + 10 * passing / 70, abs=0.01)


OBSERVE = """
observe(arguments[0]);
return [document.querySelector("#decision .pill").textContent, lit[lit.length - 1]];
"""


@pytest.mark.parametrize("tree", [PENDULUM, TWO_ENGINES], ids=["one number", "two numbers"])
def test_the_computed_action_is_the_policys(opened, tree):
    page = opened(tree)
    states = np.random.default_rng(1).normal(0, 1, (200, tree.n_features))
    vectors = page.execute_script(
        "return arguments[0].map((state) => vectorOf(leafOf(state), state))", states.tolist()
    )
    assert vectors == tree.act(states).tolist()
    for state in states[:20]:
        said, leaf = page.execute_script(OBSERVE, state.tolist())
        assert leaf == tree.apply(state)
        for name, value in zip(tree.action_names, tree.act(state[None])[0].tolist(), strict=True):
            shown = said.split(f"{name} = ")[1].split(",")[0].replace("−", "-")
            digits = 4 if tree.gains[leaf] else 3
            assert float(shown) == pytest.approx(value, rel=10 ** -(digits - 1), abs=1e-9)


def test_a_formula_stands_below_the_number(opened):
    page = opened(PENDULUM)
    said, _ = page.execute_script(OBSERVE, [0.5, 0.0, 0.3])
    assert said == "torque = 0.27"
    formula = "torque = 1.2 − 3.1·angular velocity, between −2 and 2"
    assert page.find_element("id", "formula").text == formula
    page.execute_script(OBSERVE, [0.0, 0.0, 0.3])
    assert not page.find_element("id", "formula").is_displayed()


def test_flags_are_switches_and_categories_lists(opened):
    page = opened(FLAGS)
    page.find_element("id", "feature-0").click()
    assert page.find_element("css selector", "#path li").text == "left leg contact: yes"
    page.find_element("id", "feature-0").click()
    page.execute_script(
        "const list = document.getElementById('feature-3'); list.value = '4';"
        "list.dispatchEvent(new Event('input'))"
    )
    steps = [item.text for item in page.find_elements("css selector", "#path li")]
    assert steps[:2] == ["left leg contact: no", "passenger is in the taxi"]
    assert page.execute_script("return observation") == [0, 0, 0, 4, pytest.approx(-0.25, abs=1)]
    boxes = [text.text for text in page.find_elements("css selector", ".node .strong")]
    assert "yes?" in boxes and "≥ 3" in boxes and not any("0.456" in text for text in boxes)


def test_a_slider_moves_whatever_the_size_of_the_numbers(opened):
    page = opened(EXTREME)
    move = (
        "const slider = document.querySelectorAll('#sliders input[type=range]')[arguments[0]];"
        "slider.value = arguments[1]; slider.dispatchEvent(new Event('input'));"
        "return observation[arguments[0]]"
    )
    for slider in range(3):
        low, middle, high = (page.execute_script(move, slider, at) for at in (0, 0.5, 1))
        assert low < middle < high
    assert page.execute_script("return document.querySelectorAll('.node.lit').length") >= 2


def test_several_choices_have_a_legend(opened):
    page = opened(CAR)
    legend = [pill.text for pill in page.find_elements("css selector", "#legend .pill")]
    assert legend == ["steer left, brake off", "steer straight, brake off", "steer right, brake on"]
    said, _ = page.execute_script(OBSERVE, [-3.0])
    assert said == "steer right, brake on"


OVERLAPS = """
const rects = [...document.querySelectorAll(".node > .box")];
const boxes = rects.map((rect) => rect.getBoundingClientRect());
const beside = (a, b) => a.right <= b.left || b.right <= a.left;
const apart = (a, b) => beside(a, b) || a.bottom <= b.top || b.bottom <= a.top;
return boxes.filter((a, at) => boxes.some((b, other) => other < at && !apart(a, b))).length;
"""
SPILLS = """
return [...document.querySelectorAll(".node")].filter((node) => {
  const box = node.querySelector(".box").getBoundingClientRect();
  return [...node.querySelectorAll(":scope > text")].some((text) => {
    const words = text.getBoundingClientRect();
    return words.left < box.left - 1 || words.right > box.right + 1;
  });
}).length;
"""


DRAWN = {
    **TREES,
    "car": CAR,
    "flags": FLAGS,
    "pendulum": PENDULUM,
    "two engines": TWO_ENGINES,
    "200 leaves": grown(200, 5),
}
CUT = """
return [...document.querySelectorAll("#rules td.count")].filter((cell) =>
  cell.scrollWidth > cell.clientWidth + 1).length;
"""


@pytest.mark.parametrize("tree", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("width", [1300, 390])
def test_nothing_overlaps_and_the_page_is_no_wider_than_the_screen(opened, tree, width):
    states = np.random.default_rng(0).normal(0, 1, (123_456, tree.n_features))
    page = opened(tree, width=width, states=states)
    assert page.execute_script(OVERLAPS) == 0
    assert page.execute_script(CUT) == 0
    assert page.execute_script(SPILLS) == 0
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_light_and_dark(opened):
    background = "return getComputedStyle(document.body).backgroundColor"
    light = opened(TREE, prefers_color_scheme="light").execute_script(background)
    page = opened(TREE, prefers_color_scheme="dark")
    dark = page.execute_script(background)
    assert light != dark
    page.find_element("id", "theme").click()
    assert page.execute_script(background) == light
    page.find_element("id", "theme").click()
    assert page.execute_script(background) == dark


def test_print_hides_the_tools_and_keeps_the_rules(opened):
    page = opened(LIST)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = "return getComputedStyle(document.querySelector(arguments[0])).display"
    assert page.execute_script(shown, "header .tools") == "none"
    assert page.execute_script(shown, "#sliders") == "none"
    assert page.execute_script(shown, "#rules") == "table"
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_on_paper_the_drawing_is_whole_and_fills_its_box(opened):
    page = opened(TREES["16 rules"], width=390)
    page.execute_script("zoom(3); dispatchEvent(new Event('beforeprint'))")
    whole = page.execute_script("return [bounds.x, bounds.y, bounds.width, bounds.height]")
    box = page.execute_script("return drawing.getAttribute('viewBox')")
    assert [float(number) for number in box.split()] == pytest.approx(whole)


def test_a_scroll_keeps_the_leaf_in_sight_when_the_window_changes(opened):
    tree = TREES["16 rules"]
    page = opened(tree, width=390)
    deepest = max(states_for(tree, 200), key=lambda state: len(tree.decision_path(state)))
    page.execute_script("observe(arguments[0])", deepest.tolist())
    size = {"width": 700, "height": 500, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    assert wait_for(page, "view.height < 1e6 && svg.clientWidth > 600")
    inside = """
    const leaf = boxOf(lit[lit.length - 1]).getBoundingClientRect();
    const box = svg.getBoundingClientRect();
    return leaf.top >= box.top - 1 && leaf.bottom <= box.bottom + 1;
    """
    assert page.execute_script(inside)


def test_following_the_path_shows_no_empty_space(opened):
    """On a phone the last leaf is far down; the end of the drawing stays at the end of the view."""
    driver = opened(CrispTree.load("policies/navigation3d-tree-7.json"), width=390, height=844)
    driver.execute_script("observe([0, 0, 0])")
    view, bounds = driver.execute_script("return [view, bounds]")
    assert bounds["height"] > view["height"]
    assert view["y"] + view["height"] <= bounds["y"] + bounds["height"] + 1


def test_hostile_names_do_nothing(opened):
    evil = "</script><script>window.evil = 1</script><img src=x onerror='window.evil = 1'>"
    tree = CrispTree.from_nested(
        (evil, 0.5, evil, "b"), (evil,), (evil, "b"), env_id=evil, training={evil: evil}
    )
    page = opened(tree)
    assert page.execute_script("return window.evil") is None
    assert page.execute_script("return document.images.length + document.scripts.length") == 2
    assert page.find_element("tag name", "h1").text == evil
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_without_pictures_there_is_no_room_for_them(opened):
    bare = RecordedEpisode(0, np.zeros((3, 1, 4)), np.ones(2), "terminated")
    driver = opened(TREE, Recording((bare,), note="No pictures."))
    assert driver.execute_script("return document.getElementById('picture').clientHeight") == 0


def test_why_there_is_no_replay(opened):
    page = opened(TREE, Recording(note="No replay: for a reason."))
    assert page.find_element("id", "note").text == "No replay: for a reason."
    assert not page.find_element("id", "player").is_displayed()
    assert page.find_element("css selector", "#decision .pill").text in TREE.action_names
