"""Several groups side by side: each read from its store or asked of its agent, the worst first, one line a group."""
