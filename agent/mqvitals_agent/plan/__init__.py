"""What the formulas are asked, taken from what has been seen of an object."""
