"""Content as a URL: the URL where the content is, or a `data:` URL that holds it."""

from __future__ import annotations

from base64 import b64encode

from agentkit_core import DataRef, Handle, InlineBytes, InlineText, Uri
from agentkit_core.json import without_lone_surrogates
from agentkit_providers._protocol_kit._unsupported import unresolved_artifact


def content_url(data: DataRef, mime_type: str, api: str) -> str:
    """Write content as a URL.

    Args:
        data: The content.
        mime_type: Its type, for a `data:` URL.
        api: The protocol's name, for the error.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
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
            raise unresolved_artifact(artifact_id, api)
