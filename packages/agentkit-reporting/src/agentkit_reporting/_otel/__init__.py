"""How the spans of a run are told to OpenTelemetry: names, attributes, contents, metrics."""

try:
    import opentelemetry.trace  # noqa: F401
except ImportError as error:
    raise ImportError(
        "agentkit_reporting.otel needs opentelemetry-api: pip install 'agentkit-reporting[otel]'"
    ) from error
