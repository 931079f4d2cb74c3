"""The class of the errors that Label Studio's SDK raises; a class that nothing raises where the SDK is not installed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from label_studio_sdk.core.api_error import ApiError
else:
    try:
        from label_studio_sdk.core.api_error import ApiError
    except ModuleNotFoundError as error:
        if error.name != "label_studio_sdk":
            raise

        class ApiError(Exception):
            """Never raised."""


__all__ = ["ApiError"]
