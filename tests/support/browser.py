"""A real Chromium without a window, where the system has one, and what is asked of a page in it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# Without these it asks hosts of its own, which a machine may refuse one by one.
QUIET = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
QUIET += ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-proxy-server"]
WIDTHS = (420, 800, 1400)
HEIGHT = 900
READABLE = 9  # pixels of a text
PATIENCE = 120  # seconds for a page, on a busy machine too


@contextmanager
def chromium(profile: Path) -> Iterator:
    """A driver of it. The test is skipped where it or its driver is not installed."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (browser and driver):
        pytest.skip("no Chromium with its driver here (Debian: chromium, chromium-driver)")
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = browser
    for argument in ["--headless=new", *QUIET, f"--user-data-dir={profile}"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    made.set_page_load_timeout(PATIENCE)
    made.set_script_timeout(PATIENCE)
    try:
        yield made
    finally:
        made.quit()


def load(driver, url: str) -> None:
    """Open a page and wait until it is whole: on a busy machine `get` may return while the page is still being read."""
    from selenium.webdriver.support.ui import WebDriverWait

    driver.get("about:blank")  # so that an earlier load of the same page is not taken for this one
    driver.get(url)
    there = "return document.readyState === 'complete' && location.href === arguments[0]"
    WebDriverWait(driver, PATIENCE).until(lambda one: one.execute_script(there, url))


def sized(driver, width: int, height: int = HEIGHT) -> None:
    """Give its page a size in CSS pixels; a window has a least width of its own."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def unfold(driver) -> None:
    driver.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def inside(driver, selector: str) -> dict:
    return driver.execute_script(
        "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", selector
    )


def cut_off(driver) -> list[str]:
    """The elements that reach beyond the window and stand in nothing that scrolls; the page itself, if it is too wide."""
    beyond = """
        const scrolled = (one) => one.closest('.wide') || one.closest('.context');
        return [...document.querySelectorAll('main *')].filter((one) => !scrolled(one) && one.getClientRects().length
            && one.getBoundingClientRect().right > window.innerWidth + 1).map((one) => one.outerHTML.slice(0, 90));
    """
    wide = driver.execute_script("return document.documentElement.scrollWidth > window.innerWidth")
    return ["the page"] * wide + driver.execute_script(beyond)


def smallest_text(driver) -> tuple[float, str]:
    """Pixels of the smallest text of the plots that can be seen, and that text."""
    sizes = """
        return [...document.querySelectorAll('svg text')].filter((one) => one.checkVisibility({ contentVisibilityAuto: true })
            && one.getClientRects().length).map((one) => [parseFloat(getComputedStyle(one).fontSize)
            * Math.abs(one.getScreenCTM().d || one.getScreenCTM().b), one.textContent]);
    """
    size, text = min(map(tuple, driver.execute_script(sizes)))
    return round(size, 2), text
