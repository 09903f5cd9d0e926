"""The questionnaire in a real browser. With CRISPTREE_TEST_PICTURES=DIR every page is kept as a
picture."""

import os
from pathlib import Path

import pytest
from browser import DESKTOP, PHONE, Reader, find_browser, start, wait_until
from people import on, walk
from running_server import RunningServer
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from starlette.testclient import TestClient

from crisptree.lab.study.database import all_answers, all_participants, invite, read_rows
from crisptree.lab.study.web import create_app

SECRET = "a secret for tests"


@pytest.fixture
def server(sqlite_engine, sqlite_study):
    def make_app(url):
        return create_app(sqlite_engine, sqlite_study, secret=SECRET, url=url)

    with RunningServer.serving(make_app) as server:
        yield server


@pytest.fixture
def link(sqlite_engine, sqlite_study):
    (link,) = on(sqlite_engine, invite, sqlite_study, 1)
    return link


@pytest.fixture(scope="module", params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def any_driver(request):
    yield from _driver(request.param)


@pytest.fixture(scope="module")
def driver():
    yield from _driver(DESKTOP)


def _driver(size):
    programs = find_browser()
    if programs is None:
        pytest.skip("chromium and chromedriver are not installed")
    driver = start(*programs, size)
    yield driver
    driver.quit()


def picture(driver, name: str) -> None:
    folder = os.environ.get("CRISPTREE_TEST_PICTURES")
    if folder:
        width = driver.execute_script("return innerWidth")
        Path(folder).mkdir(parents=True, exist_ok=True)
        driver.save_screenshot(str(Path(folder) / f"{width}-{name}.png"))


def fits(reader: Reader) -> None:
    """Nothing sticks out sideways, and everything to fill in has a name to be read out."""
    assert reader.run("return document.documentElement.scrollWidth <= innerWidth"), reader.page
    nameless = reader.run(
        "return [...document.querySelectorAll('input:not([type=hidden]), textarea')]"
        ".filter(e => !e.labels.length || !e.labels[0].innerText.trim()).map(e => e.name)"
    )
    assert nameless == []


def test_a_whole_questionnaire_by_keyboard(any_driver, server, sqlite_engine, sqlite_study, link):
    reader = Reader(any_driver)
    reader.open(f"{server.url}/p/{link}")
    seen = []
    for _ in range(60):
        page = reader.page
        fits(reader)
        picture(any_driver, f"{len(seen):02d}-{page or 'done'}")
        if not page:
            break
        seen.append(page)
        reader.fill_in()
        reader.send()
    (who,) = on(sqlite_engine, all_participants, sqlite_study)
    assert who.completion_code in reader.text
    assert len(seen) == len(set(seen)) == 27
    rows = on(sqlite_engine, read_rows, sqlite_study)
    items = [row for row in rows if row.kind == "item"]
    assert len(items) == 15 and {row.given for row in items} == {"push right"}
    assert {row.given for row in rows if row.kind == "rating"} == {"5"}
    assert [row.given for row in rows if row.kind == "comment"] == ["Grüße 👋"]
    for row in items:
        assert row.times_shown == 1
        assert row.browser_seconds is not None
        # The server's clock also counts the way to the browser and back.
        assert 0 < row.browser_seconds <= row.server_seconds


def at_first_item(server, sqlite_engine, sqlite_study, link, driver) -> Reader:
    app = create_app(sqlite_engine, sqlite_study, secret=SECRET, url=server.url)
    with TestClient(app, follow_redirects=False) as client:
        walk(client, link, until="item-")
    reader = Reader(driver)
    reader.open(f"{server.url}/p/{link}")
    assert reader.page.startswith("item-")
    return reader


def test_reload_back_and_a_second_tab(driver, server, sqlite_engine, sqlite_study, link):
    reader = at_first_item(server, sqlite_engine, sqlite_study, link, driver)
    first = reader.page
    reader.choose("action-0", 1)
    driver.refresh()
    assert reader.page == first
    assert reader.run("return document.querySelector('input:checked').value") == "1"
    home = driver.current_window_handle
    driver.switch_to.new_window("tab")
    reader.open(f"{server.url}/p/{link}")
    assert reader.page == first
    reader.choose("action-0", 0)
    reader.send()
    second = reader.page
    driver.close()
    driver.switch_to.window(home)
    assert reader.page == first
    reader.send()
    assert reader.page == second
    assert "Your first answer was kept" in reader.text
    driver.back()
    wait_until(lambda: reader.page in (second, ""), "a page after going back")
    reader.open(f"{server.url}/p/{link}")
    assert reader.page == second
    (stored,) = (a for a in on(sqlite_engine, all_answers, sqlite_study) if a.page == first)
    assert stored.value == {"action": [0]}


def test_a_double_click_stores_one_answer(driver, server, sqlite_engine, sqlite_study, link):
    reader = at_first_item(server, sqlite_engine, sqlite_study, link, driver)
    first = reader.page
    reader.choose("action-0", 0)
    button = driver.find_element(By.CSS_SELECTOR, "form[data-page] button")
    driver.execute_script("arguments[0].click(); arguments[0].click();", button)
    wait_until(lambda: reader.page not in ("", first), "the next page")
    assert "kept" not in reader.text
    page_sequence = [answer.page for answer in on(sqlite_engine, all_answers, sqlite_study)]
    assert page_sequence.count(first) == 1


def test_a_lost_connection_is_told_and_the_answer_sent_again(
    driver, server, sqlite_engine, sqlite_study, link
):
    reader = at_first_item(server, sqlite_engine, sqlite_study, link, driver)
    first = reader.page
    reader.choose("action-0", 1)
    server.stop()
    reader.tab_to("form[data-page] button")
    reader.press(Keys.ENTER)
    wait_until(lambda: "Not saved yet" in reader.text, "the word that nothing is saved")
    assert first not in {answer.page for answer in on(sqlite_engine, all_answers, sqlite_study)}
    server.start()
    wait_until(lambda: reader.page not in ("", first), "the next page")
    (stored,) = (a for a in on(sqlite_engine, all_answers, sqlite_study) if a.page == first)
    assert stored.value == {"action": [1]}


def test_time_away_is_seen(driver, server, sqlite_engine, sqlite_study, link):
    reader = at_first_item(server, sqlite_engine, sqlite_study, link, driver)
    first = reader.page
    reader.choose("action-0", 1)
    reader.run("dispatchEvent(new Event('focus'))")
    # What a browser does when another window comes to the front.
    reader.run("document.hasFocus = () => false; dispatchEvent(new Event('blur'))")
    reader.run("window.waited = false; setTimeout(() => { window.waited = true; }, 300)")
    wait_until(lambda: reader.run("return window.waited"), "a moment")
    reader.run("document.hasFocus = () => true; dispatchEvent(new Event('focus'))")
    reader.send()
    (stored,) = (a for a in on(sqlite_engine, all_answers, sqlite_study) if a.page == first)
    assert stored.away_ms is not None and stored.browser_ms is not None
    assert 290 <= stored.away_ms <= stored.browser_ms
    assert [what for _, what in stored.focus_log or []][-2:] == ["blur", "focus"]


def test_the_researchers_pages(any_driver, server, sqlite_engine, sqlite_study, link):
    reader = Reader(any_driver)
    reader.open(f"{server.url}/researcher")
    picture(any_driver, "researcher-login")
    reader.tab_to("#secret")
    reader.press(SECRET, Keys.ENTER)
    wait_until(lambda: "Links given out: 1." in reader.text, "the overview")
    picture(any_driver, "researcher")
    fits(reader)
    reader.open(f"{server.url}/researcher/preview")
    picture(any_driver, "researcher-preview")
    fits(reader)
