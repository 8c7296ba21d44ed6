"""The contract of a tool: the types that tools, policies and hosts share."""
