"""Timeline: a profile as lanes over time, exact to the nanosecond."""

from backends.timeline.spec import TimelineSpec
from studio.feature import Action, Feature

FEATURE = Feature(
    id="timeline",
    order=60,
    actions=(Action(name="timeline", spec=TimelineSpec, work="backends.timeline.command:timeline", here=True),),
)
