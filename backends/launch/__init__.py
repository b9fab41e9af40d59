"""Launch: choose what to train and how, start it, stop it."""

from backends.launch.capture.spec import CaptureSpec
from backends.launch.check.spec import CheckSpec
from backends.launch.export.spec import ExportSpec
from backends.launch.nodes import NodesSpec
from backends.launch.own.resume.spec import ResumeSpec
from backends.launch.own.spec import OwnSpec
from backends.launch.preview.spec import PreviewSpec
from backends.launch.rehearse.spec import RehearseSpec
from backends.launch.script.spec import ScriptSpec
from backends.launch.shapes.spec import ShapesSpec
from backends.launch.spec import LaunchSpec
from backends.launch.template import TemplateSpec
from studio.feature import Action, Feature, FirstStep, PathOpener

FEATURE = Feature(
    id="launch",
    order=30,
    step="backends.launch.step:step",
    first_steps=(
        FirstStep(key="home.train_digits", do="ui.launch.first_steps:train_digits"),
        FirstStep(key="home.make_sample", do="ui.launch.first_steps:choose_sample_folder"),
    ),
    opens=(PathOpener(kind="resume", open="ui.launch.page:open_resume"),),
    actions=(
        Action(
            name="launch",
            spec=LaunchSpec,
            work="backends.launch.work:launch",
            answer="backends.launch.training_answer:training_answer",
            is_training=True,
        ),
        Action(
            name="script",
            spec=OwnSpec,
            work="backends.launch.own.work:run_script",
            answer="backends.launch.training_answer:training_answer",
            line_of="launch",
            is_training=True,
            is_program=True,
        ),
        Action(name="resume", spec=ResumeSpec, work="backends.launch.own.resume.work:resume", is_direct=True),
        Action(
            name="rehearse",
            spec=RehearseSpec,
            work="backends.launch.rehearse.work:rehearse",
            answer="backends.launch.rehearse.report:rehearsal_answer",
        ),
        Action(
            name="capture",
            spec=CaptureSpec,
            work="backends.launch.capture.work:capture",
            answer="backends.launch.capture.work:capture_answer",
            card="ui.launch.answers.capture_card:CapturedCard",
        ),
        Action(
            name="shapes",
            spec=ShapesSpec,
            work="backends.launch.shapes.work:shapes",
            card="ui.launch.answers.shapes_card:ShapesCard",
        ),
        Action(
            name="check-first",
            spec=CheckSpec,
            work="backends.launch.check.work:check_first",
            card="ui.launch.answers.check_card:CheckCard",
        ),
        Action(name="nodes", spec=NodesSpec, work="backends.launch.nodes:nodes", can_detach=False),
        Action(
            name="export",
            spec=ExportSpec,
            work="backends.launch.export.work:export",
            card="ui.launch.answers.written_card:WrittenCard",
        ),
        Action(
            name="template",
            spec=TemplateSpec,
            work="backends.launch.template:template",
            card="ui.launch.answers.written_card:WrittenCard",
        ),
        Action(
            name="as-script",
            spec=ScriptSpec,
            work="backends.launch.script.work:as_script",
            card="ui.launch.answers.written_card:WrittenCard",
        ),
        Action(
            name="preview",
            spec=PreviewSpec,
            work="backends.launch.preview.work:preview",
            card="ui.launch.answers.preview_card:PreviewCard",
        ),
    ),
)
