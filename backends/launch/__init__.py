"""Launch: choose what to train and how, start it, stop it."""

from backends.launch.capture.spec import CaptureSpec
from backends.launch.check.spec import CheckSpec
from backends.launch.export.spec import ExportSpec
from backends.launch.nodes import NodesSpec
from backends.launch.own.spec import OwnSpec
from backends.launch.preview.spec import PreviewSpec
from backends.launch.rehearse.spec import RehearseSpec
from backends.launch.script.spec import ScriptSpec
from backends.launch.spec import LaunchSpec
from backends.launch.template import TemplateSpec
from studio.feature import Action, Feature

FEATURE = Feature(
    id="launch",
    order=30,
    actions=(
        Action(name="launch", spec=LaunchSpec, work="backends.launch.work:launch"),
        Action(name="script", spec=OwnSpec, work="backends.launch.own.work:script", line_of="launch"),
        Action(
            name="rehearse",
            spec=RehearseSpec,
            work="backends.launch.rehearse.work:rehearse",
            answer="backends.launch.rehearse.report:answer",
        ),
        Action(
            name="capture",
            spec=CaptureSpec,
            work="backends.launch.capture.work:capture",
            answer="backends.launch.capture.work:answer",
        ),
        Action(name="shapes", spec=LaunchSpec, work="backends.launch.shapes.work:shapes"),
        Action(name="check-first", spec=CheckSpec, work="backends.launch.check.work:check"),
        Action(name="nodes", spec=NodesSpec, work="backends.launch.nodes:nodes"),
        Action(name="export", spec=ExportSpec, work="backends.launch.export.work:export"),
        Action(name="template", spec=TemplateSpec, work="backends.launch.template:template"),
        Action(name="as-script", spec=ScriptSpec, work="backends.launch.script.work:as_script"),
        Action(name="preview", spec=PreviewSpec, work="backends.launch.preview.work:preview"),
    ),
)
