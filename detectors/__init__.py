"""Does this passage support this perspective?"""
