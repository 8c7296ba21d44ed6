"""The pieces of the live view in a terminal; they need rich."""

try:
    import rich.console  # noqa: F401
except ImportError as error:
    raise ImportError(
        "agentkit_reporting.rich needs rich: pip install 'agentkit-reporting[rich]'"
    ) from error
