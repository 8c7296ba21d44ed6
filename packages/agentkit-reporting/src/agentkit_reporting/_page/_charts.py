"""Usage as charts: columns drawn as SVG, with the same numbers in words and as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from agentkit_core import TokenUsage, Usage
from agentkit_reporting._page._markup import NOTHING, Markup, element, joined
from agentkit_reporting._page._values import folded

_MOST_COLUMNS: Final = 120
_WIDTH, _HEIGHT = 600, 120
_MOST_ROWS: Final = 500

Number = int | Decimal


class Series(NamedTuple):
    """One colour of a chart.

    Attributes:
        name: What it counts, for people.
        style: The name of its style.
        values: Its values, one for each column, at least 0.
    """

    name: str
    style: str
    values: Sequence[Number]


_KINDS: Final[tuple[tuple[str, str, Callable[[TokenUsage], int | None]], ...]] = (
    ("Input", "input", lambda tokens: tokens.input),
    ("Read from cache", "cache-read", lambda tokens: tokens.cache_read),
    ("Written to cache", "cache-write", lambda tokens: tokens.cache_write),
    ("Output", "output", lambda tokens: tokens.output),
)


def usage_charts(what: str, columns: Sequence[Usage]) -> Markup:
    """Draw tokens and costs, a currency a chart; empty where nothing is known.

    Args:
        what: What a column stands for: `turn`.
        columns: What each of them used.
    """
    tokens = [
        Series(name, style, [count(usage.tokens) or 0 for usage in columns])
        for name, style, count in _KINDS
    ]
    charts = [column_chart(f"Tokens of each {what}", tokens, f"{what}s")]
    currencies = sorted({currency for usage in columns for currency in usage.cost.amounts})
    for currency in currencies:
        amounts = [usage.cost.amounts.get(currency, Decimal(0)) for usage in columns]
        charts.append(
            column_chart(
                f"Cost of each {what} in {currency}",
                [Series(currency, "cost", amounts)],
                f"{what}s",
            )
        )
    shown = [chart for chart in charts if chart]
    return element("div", *shown, class_="charts") if shown else NOTHING


def column_chart(title: str, series: Sequence[Series], things: str) -> Markup:
    """Draw columns, in which the series lie upon each other; empty if all values are 0.

    Args:
        title: The title of the chart.
        series: The series, from the bottom up.
        things: What the columns are. Neighbours share a column where there are many.
    """
    # A record may be damaged: no column goes below zero.
    series = [one for one in series if any(value > 0 for value in one.values)]
    if not series:
        return NOTHING
    columns = len(series[0].values)
    share = -(-columns // _MOST_COLUMNS)
    stacks = [
        [sum(max(value, 0) for value in one.values[start : start + share]) for one in series]
        for start in range(0, columns, share)
    ]
    highest = max(sum(stack) for stack in stacks)
    step = _WIDTH / max(len(stacks), 8)
    drawn: list[Markup] = []
    for at, stack in enumerate(stacks):
        top = float(_HEIGHT)
        for one, value in zip(series, stack, strict=True):
            height = float(value / highest) * _HEIGHT if value else 0.0
            top -= height
            if height:
                drawn.append(_column(at * step, top, step * 0.8, height, one.style))
    total = sum(sum(stack) for stack in stacks)
    of_share = f"; {share} {things} a column" if share > 1 else ""
    numbers = f"{in_words(total)} in all, at most {in_words(highest)}{of_share}"
    picture = element(
        "svg",
        *drawn,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{title}: {numbers}",
    )
    caption = element("figcaption", element("strong", title), element("span", numbers))
    return element("figure", caption, picture, _legend(series), class_="chart")


def usage_table(title: str, first: str, rows: Iterable[tuple[str, Usage]]) -> Markup:
    """Show usage as a table, folded; the first column has the names. Empty without rows."""
    all_rows = list(rows)
    if not all_rows:
        return NOTHING
    names = [first, "Requests", "Input", "From cache", "To cache", "Output", "Cost"]
    head = element("tr", *(element("th", name, scope="col") for name in names))
    body = [
        element(
            "tr",
            element("th", name, scope="row", dir="auto"),
            *(element("td", cell) for cell in _cells(usage)),
        )
        for name, usage in all_rows[:_MOST_ROWS]
    ]
    caption = element("caption", title, class_="hidden")
    table = element("table", caption, element("thead", head), element("tbody", *body))
    left_out = len(all_rows) - len(body)
    more = element("p", f"{left_out:,} more are not shown.") if left_out else NOTHING
    return folded(title, joined([table, more]))


def in_words(number: Number) -> str:
    """Return a number with separators; small amounts of money with four significant digits."""
    if isinstance(number, int):
        return f"{number:,}"
    return f"{number:,.2f}" if number >= 100 else f"{float(number):.4g}"


def cost_in_words(usage: Usage) -> str:
    """Return what is known of a cost: `0.012 USD or more`; empty if nothing is."""
    amounts = [
        f"{in_words(amount)} {currency}" for currency, amount in sorted(usage.cost.amounts.items())
    ]
    at_least = " or more" if amounts and not usage.fully_priced else ""
    return " and ".join(amounts) + at_least


def _column(x: float, y: float, width: float, height: float, style: str) -> Markup:
    return element(
        "rect",
        x=f"{x:.2f}",
        y=f"{y:.2f}",
        width=f"{width:.2f}",
        height=f"{height:.2f}",
        class_=f"bar-{style}",
    )


def _legend(series: Sequence[Series]) -> Markup:
    if len(series) < 2:
        return NOTHING
    entries = [
        element("li", element("span", class_=f"sign bar-{one.style}"), one.name) for one in series
    ]
    return element("ul", *entries, class_="legend")


def _cells(usage: Usage) -> Iterable[str]:
    tokens = usage.tokens
    yield f"{usage.requests:,}"
    for count in (tokens.input, tokens.cache_read, tokens.cache_write, tokens.output):
        yield "unknown" if count is None else f"{count:,}"
    yield cost_in_words(usage) or "unknown"
