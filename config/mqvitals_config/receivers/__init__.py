"""Settings of each type of receiver of alert notifications."""
