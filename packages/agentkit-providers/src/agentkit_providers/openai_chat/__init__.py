"""agentkit_providers.openai_chat: Chat Completions, for OpenAI and all who speak like it."""

from agentkit_providers.openai_chat._projection import OpenAIChat
from agentkit_providers.openai_chat._quirks import Quirks, ThinkingFormat

__all__ = ["OpenAIChat", "Quirks", "ThinkingFormat"]
