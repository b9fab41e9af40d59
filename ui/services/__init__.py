"""What any page may ask for: the session, runs, settings, files, editors, work in the background."""
