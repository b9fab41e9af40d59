"""Ranks that train together: started, brought into a group, and what is split among them."""
