"""How Sphinx builds the pages of this folder; `scripts/docs` runs it."""

from importlib.metadata import version as installed_version

project = "annealed"
author = "the authors of annealed"
version = release = installed_version("annealed")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "tutorials/*"]

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "gallery",
    "within_subsection_order": "ExampleTitleSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 0,
}
suppress_warnings = ["config.cache"]  # of the gallery's settings, which cannot be kept between builds

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types are in the docstrings
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "annealed"
html_theme_options = {"navigation_with_keys": False, "show_toc_level": 2}
html_show_sourcelink = False


def _is_from_scikit_learn(app, what, name, obj, skip, options):
    """Leave out set_fit_request and its like, which scikit-learn writes and links to its own pages."""
    return True if name.startswith("set_") and name.endswith("_request") else skip


def setup(app):
    app.connect("autodoc-skip-member", _is_from_scikit_learn)
