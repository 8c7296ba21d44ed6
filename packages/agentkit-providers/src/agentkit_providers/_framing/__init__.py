"""How a byte stream is cut into payloads: server-sent events, JSON objects, lenient JSON."""
