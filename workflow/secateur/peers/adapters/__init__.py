"""Other systems, each as its authors released it. A file is a plug-in."""
