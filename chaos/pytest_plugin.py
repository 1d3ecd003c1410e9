"""The pytest plugin: a suite reads like a specification."""
