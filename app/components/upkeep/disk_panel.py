"""The tab Disk of the Workspace page: how much of the disk each part of the workspace takes."""

import os
from pathlib import Path

import pandas as pd
import streamlit as st

from berdseye.app.access.session import workspace
from berdseye.app.components.plain_text import escaped
from berdseye.data.disk_use import disk_use, folder_bytes, shown_size
from berdseye.data.models.weights import MODELS_VARIABLE


def disk_panel() -> None:
    """Draw the parts as a table with bars, the largest first, then what lies outside the workspace."""
    use = disk_use(workspace())
    st.caption(
        escaped(
            f"The workspace takes {shown_size(use.bytes)}. "
            f"{shown_size(use.free)} of the disk's {shown_size(use.disk)} are free."
        )
    )
    table = pd.DataFrame(
        {
            "part": [part.name for part in use.parts],
            "share": [100 * part.bytes / use.bytes if use.bytes else 0.0 for part in use.parts],
            "size": [shown_size(part.bytes) for part in use.parts],
            "files": [part.files for part in use.parts],
        }
    )
    columns = {
        "part": st.column_config.TextColumn("Part", width="medium"),
        "share": st.column_config.ProgressColumn(
            "Share of the workspace", format="%.0f%%", min_value=0.0, max_value=100.0, width="large"
        ),
        "size": st.column_config.TextColumn("Size", width="small", alignment="right"),
        "files": st.column_config.NumberColumn("Files", width="small", format="localized"),
    }
    st.dataframe(table, hide_index=True, column_config=columns, height="content", key="disk-parts")
    for name, folder in model_folders().items():
        st.caption(escaped(f"{name}, outside the workspace: {shown_size(folder_bytes(folder))} in {folder}."))


def model_folders() -> dict[str, Path]:
    """Return the folders of models that exist on this machine, by what they contain."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    hub = os.environ.get("HF_HUB_CACHE")
    home = os.environ.get("HF_HOME")
    folders = {
        "Models of the Hugging Face Hub": Path(hub) if hub else (Path(home) if home else cache / "huggingface") / "hub",
        "Models in 8-bit integers": Path(os.environ.get("BERDSEYE_CACHE") or cache / "berdseye"),
    }
    if own := os.environ.get(MODELS_VARIABLE):
        folders["Models of your own"] = Path(own)
    return {name: folder.expanduser() for name, folder in folders.items() if folder.expanduser().is_dir()}
