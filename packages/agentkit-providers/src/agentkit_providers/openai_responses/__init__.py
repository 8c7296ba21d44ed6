"""agentkit_providers.openai_responses: Responses, for OpenAI and all who speak like it."""

from agentkit_providers.openai_responses._projection import OpenAIResponses
from agentkit_providers.openai_responses._quirks import Quirks, ReasoningReplay

__all__ = ["OpenAIResponses", "Quirks", "ReasoningReplay"]
