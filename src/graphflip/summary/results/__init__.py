"""Results of a summary: shares with their intervals, recourses with their figures, and all of it as JSON."""
