"""JSON beyond records: canonical spelling, strict reading, and text that UTF-8 can express.

`agentkit_core.to_json` writes any value; the functions here are for code that compares, reads
or sends JSON itself.
"""

from agentkit_core._json import canonical_json, decode_json, without_lone_surrogates

__all__ = ["canonical_json", "decode_json", "without_lone_surrogates"]
