"""What a simulated queue manager answers, one module for each kind of command: the state in, items of PCF parameters out."""
