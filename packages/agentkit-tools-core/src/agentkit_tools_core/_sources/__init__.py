"""Where tools come from: the registry, wrappers of sources, and changes of what is offered."""
