"""Scripts run plainly and under every question: both runs must print, raise, write and compute the same."""
