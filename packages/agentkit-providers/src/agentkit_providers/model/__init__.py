"""A model over HTTP: a projection, an endpoint, a key. `connect` finds the first two by name.

    model = connect("openai:gpt-5-mini")
    response = await model.complete(ModelRequest(model=model.name, items=[Item.user("Hi")]))

A model can be used on its own, and it implements the model ports of agentkit-loop, with an event
loop and without one. `FailureClassifier`, `PendingReader` and `ServiceTierReader` describe what a
projection may have besides the methods that it must have.
"""

from agentkit_providers.model._optional_members import (
    FailureClassifier,
    PendingReader,
    ServiceTierReader,
)
from agentkit_providers.model._sessions import BlockingHttpSession, HttpSession

__all__ = [
    "BlockingHttpSession",
    "FailureClassifier",
    "HttpSession",
    "PendingReader",
    "ServiceTierReader",
]
