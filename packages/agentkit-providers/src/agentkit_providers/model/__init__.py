"""A model behind HTTP: a projection, an endpoint, a key. `connect` finds the first two by name.

    model = connect("openai:gpt-5-mini")
    response = await model.complete(ModelRequest(model=model.name, items=[Item.user("Hi")]))

It is a model client on its own and fits the ports of agentkit-loop, for event loops and
without one.
"""

from agentkit_providers.model._connect import BadModelName, connect
from agentkit_providers.model._http_model import Encode, HttpModel, MissingBaseUrl
from agentkit_providers.model._sessions import BlockingHttpSession, HttpSession

__all__ = [
    "BadModelName",
    "BlockingHttpSession",
    "Encode",
    "HttpModel",
    "HttpSession",
    "MissingBaseUrl",
    "connect",
]
