"""The SMF records of the simulated group: what a queue manager of z/OS writes of each statistics interval."""
