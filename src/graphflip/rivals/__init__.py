"""Methods of the literature behind one interface, written from their papers, to compare with."""
