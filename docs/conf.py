"""How the site is built from the pages, the docstrings and the gallery: see `make docs`.

The site works from disk with no network: formulas are MathML, and no font or script is remote.
"""

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "truerisk"
author = "The truerisk developers"
project_copyright = author
version = release = version_of("truerisk")
root_doc = "index"
exclude_patterns = ["_build", "gallery", "requirements.lock", "templates"]
nitpicky = True
nitpick_ignore_regex = [
    # Types of other projects would need their inventories from the network; types of ours that have
    # no public name have no page.
    ("py:.*", r"(?!truerisk\.[A-Za-z_]+$).*"),
]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
    "contents",
    "mathml",
    "plain_blocks",
    "public_names",
    "short_signatures",
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
default_role = "py:obj"  # a name in backquotes leads to it, where it is public

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_default_options = {
    # Made by scikit-learn for its routing of metadata, with links into its own guide.
    "exclude-members": "set_fit_request, set_score_request, set_transform_request",
}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
python_display_short_literal_types = True
python_maximum_signature_line_length = 88

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "download_all_examples": False,
    "capture_repr": (),
    "show_signature": False,
    "show_memory": False,
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 3,
    "write_computation_times": False,  # that page loads scripts from the network
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": "True",
    "reset_modules": ("matplotlib",),
}

# Links to other projects need their inventories from the network: the published site has them.
if os.environ.get("TRUERISK_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "numpy": ("https://numpy.org/doc/stable", None),
        "python": ("https://docs.python.org/3", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

html_theme = "pydata_sphinx_theme"
html_title = "truerisk"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
templates_path = ["templates"]
html_sidebars = {"**": ["all-pages.html"]}
html_theme_options = {
    "logo": {"text": "truerisk"},
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
