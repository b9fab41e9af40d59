"""Kinds of lanes and families of names, as the profilers call them."""

from __future__ import annotations

import pytest

from backends.timeline.families import family_of, lane_kind, sort_position


@pytest.mark.parametrize(
    ("process", "label", "lane", "kind"),
    [
        ("Python", "CPU", "Thread 1", "host"),
        ("CANN", "CPU", "Thread 1", "api"),
        ("Ascend Hardware", "NPU", "Stream 3", "device"),
        ("HCCL", "NPU", "Plane 0", "communication"),
        ("Communication", "NPU 0", "Group 0 Communication", "communication"),
        ("Overlap Analysis", "NPU", "Free", "overlap"),
        ("CPU OP", "CPU", "Thread 0", "host"),
        ("Scope Layer", "", "Thread 0", "host"),
        ("python", "CPU", "thread 7 (python)", "host"),
        ("python", "GPU 0", "stream 7", "device"),
        ("trainer", "CPU", "thread 1", "host"),
        ("MTIA 9", "MTIA 9", "stream 2", "device"),
        ("", "", "Spans", "other"),
    ],
)
def test_that_a_lane_is_known_by_its_names(process: str, label: str, lane: str, kind: str) -> None:
    assert lane_kind(process, label, lane) == kind


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("aclnnMm_MatMulCommon_MatMulV2", "compute"),
        ("aclnnMm_MatMulCommon_MemSet", "compute"),
        ("void at::native::reduce_kernel<512, 1>", "compute"),
        ("EVENT_WAIT", "free"),
        ("Notify Wait", "free"),
        ("Notify_Wait", "free"),
        ("Stream Wait Event", "free"),
        ("Context Sync", "free"),
        ("MEMCPY_ASYNC", "memory"),
        ("SDMA", "memory"),
        ("Memcpy HtoD (Pageable -> Device)", "memory"),
        ("hcom_allReduce__586_0_1", "communication"),
        ("ncclKernel_SendRecv_RING_SIMPLE", "communication"),
        ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
        ("EVENT_RECORD", "other"),
        ("Write Value", "other"),
        ("ProfilerStep#5", "other"),
    ],
)
def test_that_names_on_a_device_have_a_family(name: str, family: str) -> None:
    assert family_of("device", name) == family


@pytest.mark.parametrize(
    ("name", "family"),
    [("Computing", "compute"), ("Communication", "communication"), ("Free", "free"),
     ("Communication(Not Overlapped)", "communication"), ("Preparing", "other")],
)  # fmt: skip
def test_that_the_rows_of_overlap_analysis_have_a_family(name: str, family: str) -> None:
    assert family_of("overlap", name) == family


def test_that_tasks_of_communication_wait_or_communicate() -> None:
    assert [family_of("communication", name) for name in ("Notify_Wait", "Memcpy", "hcom_x")] == [
        "free",
        "communication",
        "communication",
    ]


def test_that_processes_without_a_wish_stand_as_the_profilers_put_them() -> None:
    names = ["Python", "CANN", "Ascend Hardware", "Communication", "Overlap Analysis", "unknown"]
    assert sorted(reversed(names), key=sort_position) == names
