"""From observations to rules."""
