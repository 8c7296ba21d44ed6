"""How a request travels: HTTP over httpx, with and without an event loop."""
