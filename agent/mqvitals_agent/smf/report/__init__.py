"""The health check of queue managers by their SMF records."""
