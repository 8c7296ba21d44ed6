"""A page in a real browser: it can be read and used by everybody, and obeys nothing it contains."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from agentkit_reporting.html import render_page, write_page
from support.browser import PROGRAM, Browser, Tab, opened
from support.page_runs import long_run, showcase, with_strings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        PROGRAM is None, reason="needs Chromium; on Debian: apt-get install chromium"
    ),
]

PHONE = 390
VECTORS = [
    "<script>{ran}</script>",
    "</script><script>{ran}</script>",
    "</style><script>{ran}</script>",
    "</title></textarea></template></noscript><script>{ran}</script>",
    "--><!--><script>{ran}</script>",
    "]]><![CDATA[<script>{ran}</script>",
    "<img src=x onerror={ran}>",
    "<svg onload={ran}><animate onbegin={ran} attributeName=x dur=1s>",
    "<details open ontoggle={ran}>",
    "<video><source onerror={ran}></video>",
    "<iframe srcdoc='<script>parent.{ran}</script>'></iframe>",
    "<object data='data:text/html,<script>{ran}</script>'></object>",
    "<embed src=//planted.example/a.swf>",
    "<link rel=stylesheet href=//planted.example/a.css>",
    "<link rel=prefetch href=//planted.example/b><link rel=dns-prefetch href=//planted.example>",
    "<style>@import '//planted.example/c.css';body{{display:none}}</style>",
    "<meta http-equiv=refresh content='0;url=//planted.example/d'>",
    "<base href=//planted.example/>",
    "<form action=//planted.example/e><input autofocus onfocus={ran}></form>",
    "<img src=//planted.example/f srcset=//planted.example/g>",
    "<a href=javascript:{ran} id=planted>x</a>",
    '" autofocus onfocus="{ran}" x="',
    "' onmouseover='{ran}' x='",
    "` onclick=`{ran}`",
    "\x00<script>{ran}</script>",
    "\ufeff\u2028<script>{ran}</script>",
    "&lt;script&gt;{ran}&lt;/script&gt;",
    "javascript:{ran}",
    "data:text/html,<script>{ran}</script>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img onerror={ran}'>",
    "<svg><foreignObject><iframe src=javascript:{ran}></iframe></foreignObject></svg>",
]
"""Markup that would run `{ran}` or ask for something of planted.example."""
PAYLOADS = [" ".join(VECTORS[start::4]).format(ran="window.ran=1") for start in range(4)]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "run.html"
    write_page(showcase(), path)
    return path


def unfold_everything(tab: Tab) -> None:
    tab.run("for (const fold of document.querySelectorAll('details')) fold.open = true")


def load_images(tab: Tab) -> list[list[int]]:
    """Load all images, and return their sizes in pixels."""
    sizes: list[list[int]] = tab.run(
        "Promise.all([...document.images].map((image) => { image.loading = 'eager';"
        " return image.decode().then(() => [image.naturalWidth, image.naturalHeight]); }))"
    )
    return sizes


def lay_everything_out(tab: Tab) -> None:
    """Unfold everything, and lay out what is far away too; only without the policy."""
    tab.run("for (const fold of document.querySelectorAll('details')) fold.open = true")
    tab.run("for (const entry of document.querySelectorAll('.entry'))"
            " entry.style.contentVisibility = 'visible'")  # fmt: skip
    load_images(tab)


def names_in(tab: Tab) -> dict[str, int]:
    """How often each element of a page has each attribute, as `element attribute`."""
    counts: dict[str, int] = tab.run(
        """(() => {
          const counts = {};
          for (const element of document.querySelectorAll('*')) {
            for (const name of ['', ...element.getAttributeNames()]) {
              const key = element.localName + ' ' + name;
              counts[key] = (counts[key] || 0) + 1;
            }
          }
          return counts;
        })()"""
    )
    return counts


def test_nothing_that_a_page_contains_is_run_or_loaded(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    spoilt = tmp_path / "spoilt.html"
    # Neighbouring strings get different ones, so that each kind of field has had each of them.
    payloads = cycle(PAYLOADS)
    hostile = with_strings(showcase(), lambda text: text + next(payloads))
    write_page(hostile, spoilt, title=" ".join(PAYLOADS))
    with opened(browser, page) as tab:
        known = names_in(tab)

    # Once with the policy, and once without it: escaping alone has to be enough.
    for ignores_policy in (False, True):
        with opened(browser, spoilt, ignores_policy=ignores_policy) as tab:
            unfold_everything(tab)
            tab.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
            found = names_in(tab)

            assert tab.run("window.ran") is None
            assert tab.requests == [spoilt.as_uri()]
            assert tab.complaints == []
            assert found.keys() <= known.keys()
            assert found["script "] == found["style "] == found["title "] == 1
            for payload in PAYLOADS:
                end = json.dumps(payload[-60:])
                assert tab.run(f"document.body.textContent.includes({end})")


def test_the_policy_alone_stops_scripts_styles_and_requests(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "broken.html"
    whole = render_page(showcase(), title="A title")
    planted = " ".join(PAYLOADS).replace("<meta", "<p").replace("<base", "<p")
    path.write_text(whole.replace("<h1", f"<div>{planted}</div><h1", 1), encoding="utf-8")

    with opened(browser, path) as tab:
        assert tab.run("window.ran") is None
        assert [url for url in tab.requests if "planted" not in url] == [path.as_uri()]
        assert tab.complaints, "the browser says what it refused"
        loaded = tab.run(
            "performance.getEntriesByType('resource').filter((e) => e.decodedBodySize)"
        )
        assert loaded == []
        assert tab.run("getComputedStyle(document.body).display") != "none"


@pytest.mark.parametrize(
    ("width", "dark", "options", "expected"),
    [
        (PHONE, False, "{}", {"color-contrast", "heading-order", "label", "region", "image-alt"}),
        (1280, True, "{runOnly: ['color-contrast']}", {"color-contrast"}),
    ],
    ids=["light", "dark"],
)
def test_axe_finds_no_barrier(
    browser: Browser, page: Path, width: int, dark: bool, options: str, expected: set[str]
) -> None:
    found = find_spec("axe_core_python")
    if found is None or found.origin is None:
        pytest.skip("needs axe-core-python")
    axe = Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")
    with opened(browser, page, width=width, dark=dark, ignores_policy=True) as tab:
        lay_everything_out(tab)
        tab.run(f"{axe};0")
        result: dict[str, Any] = tab.run(
            f"axe.run({options}).then((result) => ({{"
            "  violations: result.violations.map((rule) => ["
            "    rule.id, ...rule.nodes.map((node) => node.failureSummary + node.html)]),"
            "  passes: result.passes.map((rule) => rule.id)}))"
        )
        narrow = tab.run(
            "[...document.querySelectorAll('summary, button, input, nav a')].map((element) =>"
            " [element.getBoundingClientRect().height, element.outerHTML])"
            ".filter(([height]) => height < 20)"
        )

    assert result["violations"] == []
    assert expected <= {*result["passes"]}
    assert narrow == [], "large enough for a finger"


def test_a_phone_never_scrolls_sideways_and_cuts_no_text(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    wide = tmp_path / "wide.html"
    write_page(with_strings(showcase(), lambda text: text + "wide" * 200), wide)
    for path in (page, wide):
        with opened(browser, path, width=PHONE, ignores_policy=True) as tab:
            lay_everything_out(tab)
            cut = tab.run(
                "[...document.querySelectorAll('body *')].filter((element) =>"
                f" element.getBoundingClientRect().right > {PHONE}"
                " && !element.closest('.step, .brief, nav, .hidden'))"
                ".map((element) => element.outerHTML)"
            )
            assert cut == []
            assert tab.run("document.documentElement.scrollWidth") == PHONE


def test_a_page_looks_as_the_person_prefers(browser: Browser, page: Path) -> None:
    colours = []
    for dark in (False, True):
        with opened(browser, page, dark=dark) as tab:
            colours.append(tab.run("getComputedStyle(document.body).backgroundColor"))
            assert tab.complaints == []

    assert colours == ["rgb(250, 249, 247)", "rgb(22, 21, 20)"]


def test_without_scripts_everything_can_be_read_and_nothing_is_offered_in_vain(
    browser: Browser, page: Path
) -> None:
    with opened(browser, page, scripts=False) as tab:
        assert tab.run("getComputedStyle(document.querySelector('.tools')).display") == "none"
        tab.run("document.querySelector('.call > summary').focus()")
        tab.press("Enter", 13, "\r")
        assert tab.run("document.querySelector('.call').open") is True


def test_it_is_used_by_keyboard(browser: Browser, page: Path) -> None:
    focused = "document.activeElement"
    with opened(browser, page) as tab:
        tab.press("Tab", 9)
        assert tab.run(f"{focused}.textContent") == "Skip to the conversation"
        assert tab.run(f"{focused}.checkVisibility()")
        tab.press("Enter", 13, "\r")
        assert tab.run("location.hash") == "#conversation"
        tab.press("Tab", 9)
        assert tab.run(f"{focused}.id") == "search"
        before = tab.run("document.getElementById('found').textContent")
        tab.send("Input.insertText", text="VARNISH")
        tab.press("Enter", 13, "\r")
        found = tab.run("document.getElementById('found').textContent")
        assert found == f"2 entries of {before.partition(' ')[0]}"
        shown = tab.run(
            "[...document.querySelectorAll('.session > .turn:not([hidden]) > .entry')]"
            ".filter((entry) => !entry.hidden).length"
        )
        assert shown == 2
        assert tab.run("CSS.highlights.get('found').size") == 2
        inner = "[...document.querySelectorAll('.inner .call')].map((call) => call.open)"
        assert tab.run(inner) == [True], "what was found in it is seen"
        tab.press("Escape", 27)
        assert tab.run("document.getElementById('found').textContent") == before
        assert tab.run("document.querySelectorAll('.entry[hidden]').length") == 0
        assert tab.run(inner) == [False]
        tab.press("Tab", 9)
        assert tab.run(f"{focused}.textContent") == "Unfold all"
        tab.press("Enter", 13, "\r")
        assert tab.run("document.querySelectorAll('.call:not([open])').length") == 0


def test_images_are_shown_and_sound_can_be_played(browser: Browser, page: Path) -> None:
    with opened(browser, page) as tab:
        unfold_everything(tab)
        sizes = load_images(tab)
        length_s = tab.run(
            "new Promise((done) => { const sound = document.querySelector('audio');"
            " sound.onloadedmetadata = () => done(sound.duration); sound.load();"
            " sound.preload = 'metadata'; })"
        )
        complaints = tab.complaints

    assert sizes == [[640, 240], [300, 160]]
    assert length_s == pytest.approx(0.1)
    assert complaints == []


def test_print_shows_what_is_folded_and_leaves_the_tools_out(browser: Browser, page: Path) -> None:
    with opened(browser, page, dark=True) as tab:
        tab.send("Emulation.setEmulatedMedia", media="print")
        colour = tab.run("getComputedStyle(document.body).backgroundColor")
        folded = tab.run("document.querySelector('.call .arguments').checkVisibility()")
        tools = tab.run("document.querySelector('.tools').checkVisibility()")
        paper = b64decode(tab.send("Page.printToPDF")["data"])

    assert folded
    assert not tools
    assert colour == "rgb(255, 255, 255)"
    assert paper.startswith(b"%PDF")


def test_five_thousand_items_are_opened_and_searched(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "long.html"
    write_page(long_run(5_000), path)
    with opened(browser, path) as tab:
        entries, laid_out = tab.run(
            "(() => { const all = [...document.querySelectorAll('.session > .turn > .entry')];"
            " const near = all.filter((entry) => entry.firstElementChild.checkVisibility("
            "{contentVisibilityAuto: true})); return [all.length, near.length]; })()"
        )
        tab.run("document.getElementById('search').focus()")
        tab.send("Input.insertText", text="what is 1234 squared")
        tab.press("Enter", 13, "\r")
        found = tab.run("document.getElementById('found').textContent")
        top = tab.run("document.querySelector('.entry:not([hidden])').getBoundingClientRect().top")

    assert entries == 3_750, "results are with their calls"
    assert laid_out < 100
    assert found == "1 entry of 3,750"
    assert 0 <= top < 800, "it is in view"
