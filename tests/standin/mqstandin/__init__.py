"""Queue managers for tests: what stands behind the stand-in for IBM's MQI client library."""
