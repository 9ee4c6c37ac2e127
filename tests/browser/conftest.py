"""One Chromium for all tests of a worker; whatever is opened in it must be silent and alone.

No test here looks for anything on a network: a page is a file, and asks for nothing but itself.
"""

import json
import shutil
from pathlib import Path

import pytest

DESKTOP, PHONE = 1200, 390
HEIGHTS = {DESKTOP: 900, PHONE: 844}
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
)
LOUD = {"WARNING", "SEVERE"}
OUR_OWN = ("data:", "about:")  # what is in the page already, and the empty page


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Start a Chromium that nobody sees, with a profile of its own and both of its logs on."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    from selenium import webdriver  # noqa: PLC0415  (slow to load, and only these tests need it)
    from selenium.webdriver.chrome.options import Options  # noqa: PLC0415
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

    options = Options()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SE_OFFLINE", "true")  # both programs are named: nothing to look for
        environment.setenv("no_proxy", "*")  # the driver listens on this machine
        started = webdriver.Chrome(options=options, service=Service(driver))
        try:
            started.get("about:blank")
            started.set_script_timeout(30)
            yield started
        finally:
            started.quit()


@pytest.fixture
def opened(browser):
    """Open a file and give the browser; what the pages said and asked for is judged afterwards.

    `opened(path)` shows it on a desktop in the light; `width`, `dark` and `fragment` (what follows
    `#` in the address) show it otherwise.  The browser's own `execute_script`, `find_elements` and
    `execute_cdp_cmd` do the rest.
    """
    addresses = set()
    faults(browser, addresses)  # what other pages said is not this test's

    def opened(path, *, width=DESKTOP, dark=False, fragment=""):
        address = Path(path).resolve().as_uri()
        addresses.add(address)
        view(browser, width=width, dark=dark)
        # A fragment alone is no new page: the browser would only scroll.
        browser.get("about:blank")
        browser.get(f"{address}#{fragment}" if fragment else address)
        return browser

    yield opened
    assert faults(browser, addresses) == []


@pytest.fixture(scope="session", name="faults")
def judge():
    """Give the function that judges what the browser did since it was last asked."""
    return faults


def faults(browser, addresses):
    """List what was said on the console, asked of anyone but `addresses`, or put in a dialog."""
    said = [entry["message"] for entry in browser.get_log("browser") if entry["level"] in LOUD]
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        message["params"]["request"]["url"].partition("#")[0]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
        # The page a Chromium starts with is its own; no file may name that scheme.
        and not message["params"]["documentURL"].startswith("chrome:")
    }
    strange = sorted(address for address in asked - addresses if not address.startswith(OUR_OWN))
    dialogs = [
        message["params"]["message"]
        for message in messages
        if message["method"] == "Page.javascriptDialogOpening"
    ]
    return said + strange + dialogs


@pytest.fixture(scope="session")
def show(browser):
    """Give the function that changes how the page in the browser is looked at."""
    return lambda **how: view(browser, **how)


def view(browser, *, width=DESKTOP, dark=False, medium=""):
    """Look through a screen of this width, at this colour scheme, or at paper."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {
            "width": width,
            "height": HEIGHTS.get(width, 900),
            "deviceScaleFactor": 1,
            "mobile": width <= PHONE,
        },
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": [scheme]})
