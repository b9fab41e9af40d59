"""Launch: choose what to train and how, start it, stop it."""

from backends.launch.preview.spec import PreviewSpec
from backends.launch.spec import LaunchSpec
from studio.feature import Action, Feature

FEATURE = Feature(
    id="launch",
    order=30,
    actions=(
        Action(name="launch", spec=LaunchSpec, work="backends.launch.work:launch"),
        Action(name="preview", spec=PreviewSpec, work="backends.launch.preview.work:preview"),
    ),
)
