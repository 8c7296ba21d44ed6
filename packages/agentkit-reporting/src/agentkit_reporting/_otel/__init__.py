"""How the spans of a run are told to OpenTelemetry: names, attributes, contents, metrics."""
