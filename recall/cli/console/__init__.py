"""The console: this project's record, memories and health as pages of a web server on this machine alone.

A page is a function of an app and what was asked for; `routes` names them all.
"""
