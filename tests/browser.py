"""A real Chromium without a window, where the system has one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# Without these it asks hosts of its own, which a machine may refuse one by one.
QUIET = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
QUIET += ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-proxy-server"]
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


def sized(driver, width: int, height: int = 900) -> None:
    """Give its page a size in CSS pixels; a window has a least width of its own."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
