"""The living agent: one task a queue manager that asks it, one thread that collects, judges and stores."""
