"""How a call is sent and its response read: HTTP, with an event loop and without one."""
