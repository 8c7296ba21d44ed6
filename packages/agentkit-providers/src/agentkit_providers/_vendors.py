"""The vendors that are known, of all protocols: rows, and nothing but rows."""

from __future__ import annotations

from typing import Final

from agentkit_providers._chat_vendors import CHAT_VENDORS
from agentkit_providers._gemini_vendors import GEMINI_VENDORS
from agentkit_providers._local_vendors import LOCAL_VENDORS
from agentkit_providers._messages_vendors import MESSAGES_VENDORS
from agentkit_providers._responses_vendors import RESPONSES_VENDORS

VENDORS: Final = (
    *CHAT_VENDORS,
    *LOCAL_VENDORS,
    *RESPONSES_VENDORS,
    *MESSAGES_VENDORS,
    *GEMINI_VENDORS,
)
