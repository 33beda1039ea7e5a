"""Conditions of rules, and rules, in the words of Prometheus."""
