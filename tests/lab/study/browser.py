"""A real browser, driven by its keyboard."""

import shutil
import time
from collections.abc import Callable

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

DESKTOP, PHONE = (1200, 900), (360, 740)
PATIENCE_S = 30


def find_browser() -> tuple[str, str] | None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def start(browser: str, driver: str, size: tuple[int, int]) -> webdriver.Chrome:
    options = Options()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={size[0]},{size[1]}")
    started = webdriver.Chrome(options=options, service=Service(driver))
    # A headless window has no frame, but the driver may think so: set the inside exactly.
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    started.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    return started


def wait_until(holds: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, f"never came: {what}"
        time.sleep(0.05)


class Reader:
    """Somebody with a keyboard and no mouse."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    @property
    def page(self) -> str:
        return self.run("return document.querySelector('form[data-page]')?.dataset.page ?? ''")

    @property
    def text(self) -> str:
        return self.run("return document.body.innerText")

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def open(self, url: str) -> None:
        self.driver.get(url)

    def press(self, *keys: str) -> None:
        chain = ActionChains(self.driver)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def tab_to(self, css: str) -> None:
        for _ in range(80):
            if self.run("return document.activeElement.matches(arguments[0])", css):
                return
            self.press(Keys.TAB)
        raise AssertionError(f"the keyboard does not reach {css}")

    def choose(self, name: str, place: int) -> None:
        """The radio button at a place (from 0) of a group."""
        self.tab_to(f'input[name="{name}"]')
        self.press(Keys.SPACE, *[Keys.ARROW_DOWN] * place)

    def fill_in(self, rating: int = 4) -> None:
        """Whatever this page asks for, right where there is a right answer the caller wants."""
        page = self.page
        if page.startswith(("item-", "practice-")):
            self.choose("action-0", 1)
        elif page.startswith("ratings-"):
            names = self.run(
                "return [...new Set([...document.querySelectorAll('input[type=radio]')]"
                ".map(e => e.name))]"
            )
            for name in names:
                self.choose(name, rating)
        elif page == "closing":
            self.tab_to("textarea")
            self.press("Grüße 👋")

    def send(self) -> None:
        """Press the page's (first) button and wait for the next page."""
        page = self.page
        self.tab_to("form[data-page] button")
        self.press(Keys.ENTER)
        wait_until(lambda: self.page != page, f"the page after {page}")
