# The last word: a summary, and failure if a point that should have run did not.
rule complete:
    input:
        receipts=lambda wildcards: wiring.receipts(checkpoints),
        points=str(places.points),
        cube=str(places.cube),
        findings=str(places.findings),
        figures=[str(places.figure(name, "json")) for name in wiring.figures()],
    output:
        str(places.summary),
    log:
        f"results/logs/complete/{wiring.campaign_name}-{wiring.platform_name}.log",
    conda:
        "../../envs/default.yaml"
    params:
        campaign=wiring.campaign_name,
        platform=wiring.platform_name,
    shell:
        "python -m collpress --log {log:q} complete {params.campaign:q} --platform {params.platform:q}"
