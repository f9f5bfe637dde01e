"""The loop that senses, decides, places and checks."""
