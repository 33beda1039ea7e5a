"""One module for each type of receiver, each with a class of ``NotificationReceiver``."""
