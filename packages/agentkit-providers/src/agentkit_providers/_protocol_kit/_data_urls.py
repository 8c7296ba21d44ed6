"""Content as an address: where it is, or itself as a `data:` address."""

from __future__ import annotations

from base64 import b64encode

from agentkit_core import DataRef, Handle, InlineBytes, InlineText, UnsupportedContent, Uri
from agentkit_core.json import without_lone_surrogates


def address_of(data: DataRef, mime_type: str, target: str) -> str:
    """Write content as an address.

    Args:
        data: The content.
        mime_type: What it is, for a `data:` address.
        target: The protocol, for the error.

    Raises:
        UnsupportedContent: It is a handle, which someone should have resolved.
    """
    match data:
        case Uri(uri=uri):
            return uri
        case InlineBytes(data=content):
            return f"data:{mime_type};base64,{b64encode(content).decode()}"
        case InlineText(text=text):
            content = without_lone_surrogates(text).encode()
            return f"data:{mime_type};base64,{b64encode(content).decode()}"
        case Handle(artifact_id=artifact_id):
            raise UnsupportedContent(
                f"the artifact {artifact_id!r}",
                target=target,
                advice="put its bytes or its address in its place first",
            )
