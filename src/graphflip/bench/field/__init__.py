"""The field in one table: methods of the literature and ours, measured alike."""
