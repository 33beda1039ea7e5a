"""What MQ reports: kinds of object and their metrics, one declarative table per kind."""

from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported, Value

__all__ = ["Absence", "Kind", "Metric", "MetricType", "Reported", "Value"]
