"""A module for each kind of object, or for kinds that one command reports: what is asked, and how answers are read."""
