from dataclasses import replace

from annealed.app.progress import Timeline
from annealed.app.training_stages import training_stages
from annealed.models.keypoints.training.config import TrainingConfig

CONFIG = TrainingConfig(rounds=2)


def phases(stages):
    return [stage.phase for stage in stages]


def test_stages_of_one_keypoint():
    assert phases(training_stages(CONFIG, ["nose"])) == [
        *("positives", "annealing nose", "validation"),
        *("scan", "annealing nose", "validation") * 2,
        *("refinement", "refining nose", "validation"),
    ]


def test_objects_need_three_keypoints():
    stages = training_stages(CONFIG, ["nose", "chin", "brow"])
    assert phases(stages)[-5:] == ["portraits", *(f"alignment, stage {n}" for n in (1, 2, 3)), "objects"]


def test_a_resumed_run_has_the_rounds_that_are_left():
    stages = training_stages(CONFIG, ["nose"], rounds_done=2)
    assert phases(stages)[:3] == ["scan", "annealing nose", "validation"]
    assert stages[0].label == "round 2 of 2"


def test_what_is_switched_off_is_no_stage():
    config = replace(CONFIG, refine=replace(CONFIG.refine, k=0), align=replace(CONFIG.align, k=0))
    assert "refinement" not in phases(training_stages(config, ["nose"]))
    assert phases(training_stages(config, ["a", "b", "c"]))[-2:] == ["validation", "objects"]


def test_a_run_is_at_its_end_with_its_last_stage():
    stages = training_stages(CONFIG, ["nose"])
    line = Timeline(stages)
    for stage in stages:
        line.update(stage.phase, 0, 1)
    line.update(stages[-1].phase, 1, 1)
    assert line.stage is stages[-1]
    assert line.left == 0
