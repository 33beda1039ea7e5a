"""Samples as Prometheus and engines that speak its protocols know them: names, labels, units, and OpenMetrics as a text."""
