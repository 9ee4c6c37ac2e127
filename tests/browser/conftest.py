"""One Chromium for all tests of a worker; whatever is opened in it must be silent and alone.

No test here looks for anything on a network: a page is a file, and asks for nothing but itself.
"""

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import truerisk as tr
from truerisk.cli import main

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

# Each kind of page: which files it is made from (see `files`), and how.  A road of its own is a
# page of its own; together they show every kind of section.
FEW = ("--folds", "2", "--repeats", "1", "--seed", "1")
PAGES = {
    "score": ("score", "scored.csv", "--probabilities", "--costs", "fp=1,fn=5", "--seed", "1"),
    "score classes": ("score", "classes.csv", "--seed", "1"),
    "score slices": ("score", "sliced.csv", "--by", "region", "--by", "age", "--seed", "1"),
    "score undefined": ("score", "undefined.csv"),
    "compare": ("compare", "old.csv", "new.csv", "--region", "0.02", "--seed", "1"),
    "compare three": (
        *("compare", "old.csv", "new.csv", "best.csv", "--seed", "1"),
        *("--measures", "error_rate,f1,matthews_correlation"),
    ),
    "estimate": ("estimate", "table.csv", "--target", "y", "--model", "tree", *FEW),
    "estimate best": (
        *("estimate", "table.csv", "--target", "y", *FEW),
        *("--model", "tree", "--model", "naive_bayes"),
    ),
    "estimate against": (
        *("estimate", "table.csv", "--target", "y", "--folds", "3", "--repeats", "2"),
        *("--model", "tree", "--against", "naive_bayes", "--seed", "1"),
    ),
    "curve": (
        *("curve", "table.csv", "--target", "y", "--model", "naive_bayes", "--model", "tree"),
        *("--sizes", "10,20,40,60", "--repeats", "2", "--seed", "1"),
    ),
    "rank": ("rank", "ranks.csv"),
    "corpus": ("estimate", "corpus.jsonl", "--seed", "1"),
    "perturb": ("perturb", "table.csv", "--target", "y", "--replicates", "100", "--seed", "1"),
    "several": (),
}


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Start a Chromium that nobody sees, with a profile of its own and both of its logs on."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

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
            # Or elements take the focus, and do not look so, whenever another window has it.
            started.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
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


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Write what the pages are made from: small, and with every case that is drawn differently."""
    folder = tmp_path_factory.mktemp("files")

    def write(name, *lines):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    rng = np.random.default_rng(1)
    truth = np.arange(240) % 3 == 0
    score = rng.beta(1 + 3 * truth, 4 - 2 * truth).round(3)
    rows = (f"{y:d},{s >= 0.5:d},{s}" for y, s in zip(truth, score, strict=True))
    write("scored.csv", "y_true,y_pred,score", *rows)
    rows = (
        f"{y:d},{s >= 0.5:d},{s},{('north', 'south', 'a region with a name')[at % 5 % 3]},{at % 67}"
        for at, (y, s) in enumerate(zip(truth, score, strict=True))
    )
    write("sliced.csv", "y_true,y_pred,score,region,age", *rows)
    names = np.array(["grain", "crude oil", "a category with quite a long name", "tin"])
    drawn = rng.choice(4, size=160, p=[0.6, 0.25, 0.1, 0.05])
    called = np.where(rng.random(160) < 0.75, drawn, rng.choice(4, size=160))
    write(
        "classes.csv",
        "y_true,y_pred",
        *(f"{names[a]},{names[b]}" for a, b in zip(drawn, called, strict=True)),
    )
    write("undefined.csv", "y_true,y_pred", *["0,0"] * 9)
    for name, wrong in {"old": 25, "new": 12, "best": 2}.items():
        calls = [int(at % 5 < 2) ^ (at * 7 % 100 < wrong) for at in range(100)]
        rows = (f"e{at},{int(at % 5 < 2)},{call}" for at, call in enumerate(calls))
        write(f"{name}.csv", "id,y_true,y_pred", *rows)
    label = np.arange(90) % 2
    features = rng.normal(size=(90, 2)) + 1.5 * label[:, None]
    rows = (f"{a:.3f},{b:.3f},{y}" for (a, b), y in zip(features, label, strict=True))
    write("table.csv", "a,b,y", *rows)
    rows = (f"d{at},{0.7 + at / 50},{0.74 + at / 45},{0.71 + at % 3 / 50}" for at in range(8))
    write("ranks.csv", "dataset,old,new,other", *rows)
    texts = ("wheat corn rye", "corn wheat oats", "gold silver tin", "tin gold lead")
    topics = (["grain"], ["grain", "crops"], ["metal"], ["metal"])
    write(
        "corpus.jsonl",
        *(json.dumps({"text": texts[at % 4], "labels": topics[at % 4]}) for at in range(24)),
    )
    return folder


@pytest.fixture(scope="session")
def made(files, tmp_path_factory):
    """Give the function that makes a kind of page, once, as a user does: with a command."""

    @cache
    def made(kind):
        path = tmp_path_factory.mktemp("page") / "report.html"
        if kind == "several":
            return several().save(path)
        command, *arguments = PAGES[kind]
        given = [str(files / name) if (files / name).is_file() else name for name in arguments]
        ended = CliRunner().invoke(main, [command, *given, "--html", str(path)])
        assert ended.exit_code in {0, 4}, (ended.stderr, ended.exception)
        return path

    return made


@pytest.fixture(scope="session", params=list(PAGES))
def page(request, made):
    """Make one kind of page after the other."""
    return made(request.param)


def several():
    """Put on one page, a chapter each, what no command has a page for."""
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + y[:, None]
    machine = tr.LinearSVM()
    left, right = tr.evaluate_counts([[30, 5], [4, 61]]), tr.evaluate_counts([[33, 2], [4, 61]])
    results = {
        "One filter": left,
        "Another filter": right,
        "What its training says": tr.xi_alpha(machine.fit(X, y), X, y),
        "Leave one out": tr.leave_one_out(machine, X, y),
        "Side by side": tr.without_resampling(machine, X, y),
        "Which C?": tr.select(machine, X, y, over={"C": [0.1, 1.0]}, replicates=50),
        "A single number": left["f1"],
    }
    return tr.report_on(results, title="Several results")
