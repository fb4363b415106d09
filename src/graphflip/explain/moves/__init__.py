"""Valid steps from one hard graph to the next."""
