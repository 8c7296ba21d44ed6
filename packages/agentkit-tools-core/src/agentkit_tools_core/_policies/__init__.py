"""Ready-made policies: paths, commands, MCP servers, kinds of permission, and rules."""
