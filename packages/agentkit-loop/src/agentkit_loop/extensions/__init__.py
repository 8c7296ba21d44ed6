"""What a host can add to a run: hooks, mutators, budgets, typed results."""
