"""Rankings that take more than one step over the graph. A file is a kind."""
