"""How a call is sent and its response read: HTTP over httpx, with and without an event loop."""
