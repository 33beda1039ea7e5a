"""Finished hours: the samples of an object as one compressed chunk, and what each of its metrics came to."""
