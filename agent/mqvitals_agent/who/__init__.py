"""Reports which applications have a queue open. Queried on demand, never polled."""
