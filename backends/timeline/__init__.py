"""Timeline: a profile as lanes over time, exact to the nanosecond."""

from backends.timeline.spec import TimelineSpec
from studio.feature import Action, Feature, PathOpener

FEATURE = Feature(
    id="timeline",
    order=60,
    opens=(
        PathOpener(
            kind="profile",
            open="ui.timeline.page:open_profile",
            is_certain="backends.timeline.profile_path:is_profile_path",
            is_inside="backends.timeline.profile_path:holds_profile",
        ),
    ),
    actions=(Action(name="timeline", spec=TimelineSpec, work="backends.timeline.command:timeline", is_direct=True),),
)
