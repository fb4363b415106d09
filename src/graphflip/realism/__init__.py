"""Outside measures of chemistry: rings, similarity, ease of synthesis, structural alerts."""
