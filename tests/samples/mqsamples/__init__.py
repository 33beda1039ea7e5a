"""What tests of several folders use: simulated groups polled without waiting, and samples built once for all workers."""
