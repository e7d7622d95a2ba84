rule cubes:
    input:
        wiring.sources("cube", "records", "analysis"),
        receipts=lambda wildcards: wiring.receipts(checkpoints),
        points=str(places.points),
    output:
        str(places.cube),
    log:
        f"results/logs/cubes/{wiring.campaign_name}-{wiring.platform_name}.log",
    conda:
        "../../envs/default.yaml"
    params:
        campaign=wiring.campaign_name,
        platform=wiring.platform_name,
    shell:
        "python -m collpress --log {log:q} cube {params.campaign:q} --platform {params.platform:q}"
