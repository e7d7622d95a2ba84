localrules:
    findings,


rule findings:
    input:
        wiring.sources("findings", "cube", "analysis"),
        cube=str(places.cube),
    output:
        data=str(places.findings),
        page=report(
            str(places.findings_page),
            caption="../report/findings.rst",
            category="Findings",
            labels={"findings": "in words"},
        ),
    log:
        f"results/logs/findings/{wiring.campaign_name}-{wiring.platform_name}.log",
    conda:
        "../../envs/default.yaml"
    params:
        campaign=wiring.campaign_name,
        platform=wiring.platform_name,
    shell:
        "python -m collpress --log {log:q} findings {params.campaign:q} --platform {params.platform:q}"
