"""Work of the viewer that needs models: programs of the worker processes."""
