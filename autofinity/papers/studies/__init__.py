"""What figures show: what runs or is read, and what is drawn of it."""
