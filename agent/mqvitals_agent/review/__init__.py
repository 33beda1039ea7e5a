"""The review: what rules about the configuration, applications and the data themselves say of a store now, as a report."""
