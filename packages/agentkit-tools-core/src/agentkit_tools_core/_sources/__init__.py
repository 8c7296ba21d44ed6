"""Sources of tools: the registry, sources made of other sources, and changes of a source."""
