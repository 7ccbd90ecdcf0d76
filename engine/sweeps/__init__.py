"""One question asked at many points: feeds, rows, seeds, settings, models; and what only all answers together say."""
