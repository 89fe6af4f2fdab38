"""A design space from SPEC to picture, in cells (# %%) that VS Code, Spyder and jupytext open as a
notebook; as a script: pareto.py [PROGRAM [FOLDER]]. Needs pandas, and matplotlib for the picture."""
# %% Where things are
import json
import pathlib
import sqlite3
import subprocess
import sys

import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "tiersim"
FOLDER = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
STORE = FOLDER / "pareto.db"

# %% Sweep. Points that the store has are not run again, so this cell may be run as often as you like.
subprocess.run([PROGRAM, "sweep", HERE / "pareto.yaml", "-o", STORE, "--resume"], check=True,
               stdout=subprocess.DEVNULL)

# %% Read. One row a point, axes and metrics as columns. What does not fit its tier has no metrics.
with sqlite3.connect(STORE) as db:
    labels = pd.read_sql("SELECT position, axis, label FROM point_labels", db)
    metrics = pd.read_sql("SELECT position, metric, value FROM point_metrics", db)
    status = pd.read_sql("SELECT position, status, error FROM sweep_results", db, index_col="position")
points = (labels.pivot(index="position", columns="axis", values="label")
          .join(metrics.pivot(index="position", columns="metric", values="value"))
          .join(status))
print(points.status.value_counts().to_string())

# %% Fastest for each method and context
ran = points[points.status == "ok"]
best = ran.loc[ran.groupby(["method", "context"]).throughput_tokens_per_s.idxmax()]
print(best[["method", "context", "batch", "throughput_tokens_per_s", "step_time_s"]].to_string(index=False))


# %% Pareto front: no other point has more throughput and a shorter step
def front(of):
    ordered = of.sort_values(["step_time_s", "throughput_tokens_per_s"], ascending=[True, False])
    return ordered[ordered.throughput_tokens_per_s > ordered.throughput_tokens_per_s.cummax().shift(fill_value=0)]


fronts = {context: front(part) for context, part in ran.groupby("context")}
for context, part in fronts.items():
    print(f"context {context}: " + ", ".join(f"{p.method} at batch {p.batch}" for p in part.itertuples()))

# %% Picture
try:
    import matplotlib
except ImportError:
    sys.exit("no matplotlib, so no picture")
matplotlib.use("Agg")
from matplotlib import pyplot as plt

COLOURS = dict(zip(sorted(ran.method.unique()), ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]))
figure, axes = plt.subplots(1, len(fronts), figsize=(7, 2.8), sharey=True, layout="constrained")
for (context, part), ax in zip(fronts.items(), axes):
    for method, those in ran[ran.context == context].groupby("method"):
        ax.plot(those.step_time_s * 1e3, those.throughput_tokens_per_s, "o", label=method,
                color=COLOURS[method], markersize=4)
    ax.step(part.step_time_s * 1e3, part.throughput_tokens_per_s, where="post", color="#444444",
            linewidth=1, zorder=0)
    ax.set(xscale="log", yscale="log", xlabel="time of a token (ms)", title=f"context {context}")
axes[0].set_ylabel("tokens/s")
axes[0].legend(frameon=False, fontsize=8)
figure.savefig(FOLDER / "pareto.svg")
print(f"wrote {FOLDER / 'pareto.svg'}")

# %% One point again, whole: its record, and a timeline for ui.perfetto.dev
row = best.iloc[0].name
with sqlite3.connect(STORE) as db:
    scenario, settings = db.execute("SELECT scenario, settings FROM sweep_results WHERE position = ?",
                                    (int(row),)).fetchone()
command = [PROGRAM, "run", scenario, "--json", "--trace", FOLDER / "best.json.gz"]
for setting in json.loads(settings):
    command += ["--set", setting]
record = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
print("bounded by", record["results"]["bounded_by"])
