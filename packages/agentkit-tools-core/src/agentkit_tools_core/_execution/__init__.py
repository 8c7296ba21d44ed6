"""The executor: it checks a call, runs it, and turns every failure into a result."""
