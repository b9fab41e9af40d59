"""What leaves the studio for a terminal or a spreadsheet: text from outside is data there, too."""
