"""The page of one object, a module for each part of it."""
