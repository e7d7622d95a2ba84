localrules:
    datasets,


rule datasets:
    input:
        wiring.datasets(),


rule dataset:
    output:
        values=ensure("results/data/{dataset}.bin", sha256=wiring.dataset_sha256),
        sidecar="results/data/{dataset}.json",
    log:
        "results/logs/datasets/{dataset}.log",
    conda:
        "../../envs/default.yaml"
    params:
        entry=wiring.dataset_digest,
    shell:
        "python -m collpress --log {log:q} dataset get {wildcards.dataset:q}"
