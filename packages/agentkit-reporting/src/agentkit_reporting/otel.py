"""Traces and metrics for OpenTelemetry; needs the extra `otel`.

`OtelReporter` follows the semantic conventions for generative AI, version `SEMANTIC_CONVENTIONS`,
of the repository `open-telemetry/semantic-conventions-genai`. Attributes that are not in them begin
with `agentkit.`. What is said is not recorded, unless a `MessageCapture` says how much of it.
"""

from typing import Final

try:
    import opentelemetry.trace  # noqa: F401
except ImportError as error:
    raise ImportError(
        "agentkit_reporting.otel needs opentelemetry-api: pip install 'agentkit-reporting[otel]'"
    ) from error

from agentkit_reporting._otel import _names
from agentkit_reporting._otel._capture import MessageCapture
from agentkit_reporting._otel._reporter import OtelReporter

__all__ = ["SEMANTIC_CONVENTIONS", "MessageCapture", "OtelReporter"]

SEMANTIC_CONVENTIONS: Final = _names.VERSION
"""The version of the conventions that spans and metrics follow."""
