"""What commands and the terminal interface share: arguments, settings, output and the runner."""
