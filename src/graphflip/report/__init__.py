"""Reports: explanations as HTML pages, as notebook output and as pictures."""
