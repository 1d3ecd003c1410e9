"""The one loop that acts: guards, injection states, plan, resume."""
