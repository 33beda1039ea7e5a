"""What every command shares, below ``cli`` and the terminal interface: arguments, settings, exit codes, output, and
the runner."""
