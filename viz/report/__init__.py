"""Reports: what the commands answer about one model that is loaded and run once, as one document."""
