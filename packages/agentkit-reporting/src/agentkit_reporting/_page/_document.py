"""The whole page: its head with the policy that keeps it closed, its sections, style and script.

The policy allows the one style and the one script of the page, by their hashes, and images, audio
and video that are in the page. Nothing else can be loaded, run or sent.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files

from agentkit_core import SessionId
from agentkit_loop.events import Envelope
from agentkit_reporting._page._conversation import ConversationWriter
from agentkit_reporting._page._header import contents, page_header
from agentkit_reporting._page._markup import Markup, element
from agentkit_reporting._page._run_record import RunRecord
from agentkit_reporting._page._sessions import SessionRecord
from agentkit_reporting._page._timeline import timeline_section
from agentkit_reporting._page._usage_section import usage_section
from agentkit_reporting._repeats import RepeatFilter
from agentkit_reporting._span_tree import SpanTree
from agentkit_reporting._usage import UsageReporter

_MOST_OF_A_TITLE = 120


class Page:
    """Collects a run, and writes it as a page.

    Attributes:
        record: What was collected.
    """

    def __init__(self) -> None:
        self.record = RunRecord()
        self._usage = UsageReporter()
        self._spans = SpanTree()
        self._repeats = RepeatFilter()

    def add(self, envelope: Envelope) -> None:
        """Take one event; one that is reported again after a crash is ignored."""
        if not self._repeats.is_repeat(envelope):
            self.record.add(envelope)
            self._usage(envelope)
            self._spans.take(envelope)

    def is_outer(self, session_id: SessionId) -> bool:
        """Whether a session is no inner agent of another one in this record."""
        return any(session.session_id == session_id for session in self.record.roots())

    def render(self, title: str | None) -> str:
        """Return the page as HTML.

        Args:
            title: Its title; None means the first words of the first input.
        """
        writer = ConversationWriter()
        roots = self.record.roots()
        conversation = [_conversation_section(writer, root, len(roots) > 1) for root in roots]
        if not (writer.entries or writer.links):
            conversation = [element("p", "Nothing was said in this record.", class_="none")]
        first_words = next((link.about for link in writer.links.values() if link.about), "")
        title = (title or first_words or "Run of an agent")[:_MOST_OF_A_TITLE]
        summary = self._usage.summary()
        sections = {
            "conversation": element("div", _toolbar(writer.entries), *conversation),
            "timeline": timeline_section(self._spans.runs, writer.links, self.record.ended_at),
            "usage": usage_section(roots, summary, self._spans.runs),
        }
        main = [element("div", content, id=name) for name, content in sections.items() if content]
        return _document(
            title,
            [
                element("a", "Skip to the conversation", href="#conversation", class_="skip"),
                page_header(title, roots, list(self.record.sessions.values()), summary),
                contents(
                    [name for name, content in sections.items() if content], writer.links.values()
                ),
                element("main", *main),
            ],
        )


def _document(title: str, body: Iterable[Markup]) -> str:
    style, script = _asset("style.css"), _asset("script.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; media-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", http_equiv="x-dns-prefetch-control", content="off"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="robots", content="noindex"),
        element("title", title),
        element("style", style),
    )
    page = element("html", head, element("body", *body, element("script", script)), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


@cache
def _asset(name: str) -> Markup:
    """Read the style or the script, which have no text of a run in them."""
    return Markup(files("agentkit_reporting._page").joinpath(name).read_text(encoding="utf-8"))


def _hash(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"


def _toolbar(entries: int) -> Markup:
    """Write the search and the buttons, which the script shows: without it they do nothing."""
    field = element(
        "input", type="search", id="search", autocomplete="off", spellcheck="false",
        aria_describedby="found",
    )  # fmt: skip
    return element(
        "div",
        element("label", "Search", for_="search"),
        field,
        element("output", f"{entries:,} entries", id="found", aria_live="polite", for_="search"),
        element("button", "Unfold all", type="button", id="unfold"),
        element("button", "Fold all", type="button", id="fold"),
        class_="tools",
        role="search",
        hidden=True,
    )


def _conversation_section(
    writer: ConversationWriter, session: SessionRecord, is_one_of_many: bool
) -> Markup:
    title = f"Session {session.session_id}" if is_one_of_many else "Conversation"
    heading = element("h2", title, dir="auto")
    return element("div", heading, writer.write(session), class_="session")
