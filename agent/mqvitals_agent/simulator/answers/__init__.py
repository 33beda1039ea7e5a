"""The answers of a simulated queue manager: from the state to items of PCF parameters."""
