"""agentkit_providers.google_generate: generateContent, for Gemini by its own API and Vertex AI."""

from agentkit_providers.google_generate._projection import GoogleGenerate
from agentkit_providers.google_generate._quirks import Quirks

__all__ = ["GoogleGenerate", "Quirks"]
