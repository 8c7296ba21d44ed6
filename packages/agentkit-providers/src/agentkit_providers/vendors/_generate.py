"""The endpoints of Google's generateContent.

Quirks are the fields of `agentkit_providers.google_generate.Quirks` that differ from the defaults,
which are those of the Gemini API.
"""

from __future__ import annotations

from typing import Final

from agentkit_providers.vendors._endpoint import GOOGLE_GENERATE, Endpoint

GEMINI_VENDORS: Final = (
    Endpoint(
        name="google",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        api=GOOGLE_GENERATE,
        key_env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        auth_header="x-goog-api-key",
        auth_prefix="",
    ),
    Endpoint(
        # Each customer has their own base URL: https://<region>-aiplatform.googleapis.com/v1/
        # projects/<project>/locations/<region>/publishers/google
        name="vertex",
        api=GOOGLE_GENERATE,
        key_env=("CLOUDSDK_AUTH_ACCESS_TOKEN",),
        catalogue="google",
    ),
)
