"""Two agents for one group: who holds the reply queues is active, the other waits and follows its alerts."""
