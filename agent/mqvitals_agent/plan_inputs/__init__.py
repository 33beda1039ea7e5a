"""Inputs of formulas from what a store and the declared facts hold of an object."""
