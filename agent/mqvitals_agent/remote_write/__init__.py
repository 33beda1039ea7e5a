"""Remote write: what the store holds is sent to engines that speak Prometheus' protocol, in the order of its commits."""
