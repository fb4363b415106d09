"""Messages of the viewer's API."""
