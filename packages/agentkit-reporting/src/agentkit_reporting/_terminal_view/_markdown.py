"""Markdown as lines of a terminal: nothing is left out, nothing is a link, nothing is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from agentkit_reporting._terminal_safe import clean

# HTML would be left out, images would be shown without their address, and entities can be
# characters that are not seen. What the parser does not know, it leaves as it was written.
_PARSER: Final = (
    MarkdownIt("commonmark", {"html": False})
    .enable(["strikethrough", "table"])
    .disable(["image", "entity", "reference"])
)
_CODE_THEME: Final = "ansi_dark"


class _PlainHeading(Heading):
    """A heading at the left, where the text is."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text
        text.justify = "left"
        text.stylize("bold underline" if self.tag in ("h1", "h2") else "bold")
        yield text


class _WholeTable(TableElement):
    """A table whose long words are broken, not cut."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                for column in table.columns:
                    column.overflow = "fold"
            yield table


class _QuietCode(CodeBlock):
    """Code without a background, set off by its place."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        syntax = Syntax(
            code, self.lexer_name, theme=_CODE_THEME, word_wrap=True, background_color="default"
        )
        yield Padding(syntax, (0, 0, 0, 2))


class SafeMarkdown(Markdown):
    """Markdown of a model."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PlainHeading,
        "table_open": _WholeTable,
        "fence": _QuietCode,
        "code_block": _QuietCode,
    }

    def __init__(self, text: str) -> None:
        """Parse a text that is clean."""
        super().__init__("", hyperlinks=False)
        self.markup = text
        self.parsed = _PARSER.parse(text)
        _clean_tokens(self.parsed)


def block_of(text: str) -> RenderableType:
    """Return what shows a block of Markdown; as it was written if it cannot be rendered."""
    try:
        return SafeMarkdown(text)
    except Exception:
        # An answer is shown whatever a parser makes of it.
        return Text(text)


def _clean_tokens(tokens: Iterable[Token]) -> None:
    # Escapes of Markdown are resolved by the parser, after the text was cleaned.
    for token in tokens:
        token.content = clean(token.content)
        for name, value in token.attrs.items():
            if isinstance(value, str):
                token.attrs[name] = clean(value)
        _clean_tokens(token.children or ())
