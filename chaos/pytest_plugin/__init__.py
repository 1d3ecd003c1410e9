"""The pytest plugin: a suite reads like a specification. The entry point is ``chaos.pytest_plugin.plugin``."""
