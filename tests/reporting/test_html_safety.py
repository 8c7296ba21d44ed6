"""Text of models, tools and people stays text on a page, wherever it comes from."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import DataRef, File, InlineBytes, InlineText, Item, Media, Modality, Uri
from agentkit_loop.events import Diagnostic, ItemsAppended, TurnStarted
from agentkit_reporting._page._markup import Markup, element, escaped
from agentkit_reporting._page._values import prose
from agentkit_reporting.html import render_page
from support.html_outline import Outline, outline
from support.page_runs import png, showcase, with_strings
from support.runs import enveloped

EVIL = "</script><script>evil</script><img src=//evil onerror=evil>\"'><svg onload=evil>&lt;b&gt;"
SAFE = outline(render_page(showcase(), title="A title"))


def page_of(data: DataRef, mime_type: str = "image/png") -> Outline:
    part = Media(Modality.IMAGE, mime_type, data)
    return outline(render_page(enveloped([TurnStarted(), ItemsAppended((Item.user(part),), 1)])))


def attributes_of(page: Outline) -> set[tuple[str, str]]:
    return {(name, attribute) for name, attributes in page.elements for attribute in attributes}


def test_markup_in_every_string_of_every_event_makes_no_element_and_no_attribute() -> None:
    spoilt = with_strings(showcase(), lambda text: text + EVIL)
    page = outline(render_page(spoilt, title=EVIL))

    kinds = {name for name, _ in page.elements}
    assert kinds <= {name for name, _ in SAFE.elements}
    assert attributes_of(page) <= attributes_of(SAFE)
    assert sum(name == "script" for name, _ in page.elements) == 1
    assert page.text.count(EVIL) > 100


@given(st.text(st.characters(min_codepoint=0) | st.characters(categories=["Cs"])))
def test_any_text_is_one_text_in_utf_8(text: str) -> None:
    page = outline(element("p", text, title=text))

    assert page.elements == [("p", {"title": page.text or ""})]
    page.text.encode()
    if text.isprintable():
        assert page.text == text


def test_markup_is_made_by_elements_only() -> None:
    assert type(escaped("<b>")) is Markup
    assert escaped(escaped("<b>")) == "&lt;b&gt;"
    assert element("p", element("b", "&")) == "<p><b>&amp;</b></p>"
    assert element("p", None, hidden=None, id=3, open=True) == '<p id="3" open></p>'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a␀b"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("ab\u202etxt.exe", "ab<U+202E>txt.exe"),
        ("\u2066x\u2069", "<U+2066>x<U+2069>"),
        ("\U000e0041hidden", "<U+E0041>hidden"),
        ("half \ud83d", "half <U+D83D>"),
        ("می‌خواهم 👩‍🚀 \u200e", "می‌خواهم 👩‍🚀 \u200e"),  # joiners and marks that languages need
    ],
)
def test_z07_what_is_not_seen_is_shown_as_a_sign(text: str, shown: str) -> None:
    assert outline(element("p", text)).text == shown


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    page = render_page(showcase())
    policy = next(
        attributes["content"] or ""
        for name, attributes in outline(page).elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == rules["media-src"] == "data:"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    for name, rule in (("style", "style-src"), ("script", "script-src")):
        ((source,),) = [re.findall(f"<{name}>(.*?)</{name}>", page, re.DOTALL)]
        digest = b64encode(sha256(source.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert page.index("Content-Security-Policy") < page.index("<style>")


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:evil()", " javascript:evil()", "JaVaScRiPt:evil()", "java\nscript:evil()",
        "vbscript:evil", "file:///etc/passwd", "blob:https://x/1", "//evil.example/x", "evil",
        "https:evil", "https://evil\n.example/", "http://[evil", "data:text/html", "data:,",
        "data:text/html,<script>evil()</script>", "data:text/html;base64,PHNjcmlwdD4=",
        "data:image/svg+xml,<svg onload=evil()>", "data:image/png;base64,%%%", "data:;base64,AA",
    ],
)  # fmt: skip
def test_what_is_no_web_address_and_no_image_is_no_link_and_no_source(uri: str) -> None:
    page = page_of(Uri(uri))

    links = {attributes.get("href") for name, attributes in page.elements if name == "a"}
    assert {link for link in links if not (link or "").startswith("#")} == set()
    assert not [1 for _, attributes in page.elements if "src" in attributes]


def test_an_address_is_a_link_that_tells_nothing_and_loads_nothing() -> None:
    page = page_of(Uri("https://example.com/a?b=1&c=2"))

    (link,) = [attributes for name, attributes in page.elements if "rel" in attributes]
    assert link["href"] == "https://example.com/a?b=1&c=2"
    assert {"noreferrer", "noopener"} <= set((link["rel"] or "").split())
    assert not [1 for _, attributes in page.elements if "src" in attributes]


@pytest.mark.parametrize(
    ("content", "mime_type"),
    [
        (png(2, 2), "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"GIF89a rest", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x1cftypavif", "image/avif"),
    ],
)
@pytest.mark.parametrize("declared", ["image/png", "image/svg+xml", "text/html", EVIL, ""])
def test_what_an_image_is_its_content_says(content: bytes, mime_type: str, declared: str) -> None:
    url = f"data:{declared};base64,{b64encode(content).decode()}"
    sources: list[DataRef] = [InlineBytes(content)]
    if declared != EVIL:
        sources.append(Uri(url))
    for data in sources:
        page = page_of(data, declared)
        (image,) = [attributes for name, attributes in page.elements if name == "img"]
        head, _, body = (image["src"] or "").partition(",")
        assert head == f"data:{mime_type};base64"
        assert b64decode(body) == content
        assert (image["alt"] or "").startswith("Image")


@pytest.mark.parametrize(
    "data",
    [
        InlineBytes(b"<svg onload=evil()>"),
        InlineBytes(b""),
        InlineText("<svg onload=evil()>"),
        Uri("data:image/svg+xml,%3Csvg onload=evil()%3E"),
        InlineBytes(png(1, 1) + b"\0" * 2**24),
    ],
    ids=["bytes", "empty", "text", "url", "too large"],
)
def test_an_svg_and_what_is_too_large_are_not_shown_as_images(data: DataRef) -> None:
    page = page_of(data, "image/svg+xml")

    assert not {"img", "audio", "video", "object", "embed"} & {name for name, _ in page.elements}
    assert "Image" in page.text


def test_the_name_of_a_file_is_text() -> None:
    item = Item.user(File(InlineBytes(b"x"), mime_type=EVIL, name=EVIL))
    page = outline(render_page(enveloped([TurnStarted(), ItemsAppended((item,), 1)])))

    assert f"File, {EVIL}, {EVIL}, 1 bytes" in page.text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (
            "a\n```py\nx < 1\n```\nb",
            [("text", "a"), ("label", "py"), ("code", "x < 1"), ("text", "b")],
        ),
        ("```\nnever closed", [("code", "never closed")]),
        ("~~~\n```\n~~~", [("code", "```")]),
        ("````\n```\n````", [("code", "```")]),
        ("a `b` ``` c", [("text", "a `b` ``` c")]),
        ("```a`b\nc", [("text", "```a`b\nc")]),
        ("\n\n  indented\n", [("text", "  indented")]),
        (" \n ", []),
    ],
)
def test_code_is_set_off_and_everything_else_stays_as_it_is(
    text: str, pieces: list[tuple[str, str]]
) -> None:
    page = outline(prose(text))
    kinds = [attributes["class"] for _, attributes in page.elements]

    assert list(zip(kinds, page.texts, strict=True)) == pieces


def test_notices_with_markup_are_text() -> None:
    page = outline(render_page(enveloped([Diagnostic(EVIL)])))

    assert EVIL in page.text
