"""All vendors, of all protocols."""

from __future__ import annotations

from typing import Final

from agentkit_providers.vendors._chat import CHAT_VENDORS
from agentkit_providers.vendors._generate import GEMINI_VENDORS
from agentkit_providers.vendors._messages import MESSAGES_VENDORS
from agentkit_providers.vendors._responses import RESPONSES_VENDORS
from agentkit_providers.vendors._self_hosted import LOCAL_VENDORS

VENDORS: Final = (
    *CHAT_VENDORS,
    *LOCAL_VENDORS,
    *RESPONSES_VENDORS,
    *MESSAGES_VENDORS,
    *GEMINI_VENDORS,
)
