"""Ways to reach a queue manager, behind one Protocol; recordings of what was said."""
