"""In the place of frameworks that are not installed: as much of each as the examples use, with the
same names, the same output and the same files."""
