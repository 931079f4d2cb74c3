"""What `import berdseye` gives: a workspace and its runs as Python objects, over the same backend as the pages."""
