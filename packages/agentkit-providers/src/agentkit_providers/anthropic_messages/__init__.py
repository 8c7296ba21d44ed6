"""agentkit_providers.anthropic_messages: Messages, for Anthropic and all who speak like it."""

from agentkit_providers.anthropic_messages._projection import AnthropicMessages
from agentkit_providers.anthropic_messages._quirks import Quirks, ThinkingStyle

__all__ = ["AnthropicMessages", "Quirks", "ThinkingStyle"]
