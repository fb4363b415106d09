"""The search over valid edits, and answers with no edit too many."""
