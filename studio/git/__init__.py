"""Every git call of the program. No call runs what a repository names.

Git never works in the `.git` of a project. It works in a private folder: links to the objects and refs, copies of HEAD,
index and attributes, and a config that holds nothing but a few harmless values. There is no filter, driver, hook,
remote, alias or program in it that git could start, whatever the names of those in the repository are. To switch off
what a repository names would take all the names; submodules, for one, have a config of their own.
"""
