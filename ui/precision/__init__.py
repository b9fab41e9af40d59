"""The Precision page: a folder for each of its views, and what several of them share."""
