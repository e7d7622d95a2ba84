localrules:
    figures,


rule figures:
    input:
        [str(places.figure(name, "json")) for name in wiring.figures()],


rule figure:
    input:
        lambda wildcards: wiring.figure_sources(wildcards.figure),
        cube=str(places.cube),
    output:
        picture=report(
            str(places.figure("{figure}", "svg")),
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        about=str(places.figure("{figure}", "json")),
        others=multiext(str(places.figure("{figure}", "")), "pdf", "png", "csv"),
    log:
        f"results/logs/figures/{wiring.campaign_name}-{wiring.platform_name}-{{figure}}.log",
    conda:
        "../../envs/default.yaml"
    params:
        campaign=wiring.campaign_name,
        platform=wiring.platform_name,
    shell:
        "python -m collpress --log {log:q} figure {wildcards.figure:q} --campaign {params.campaign:q} --platform {params.platform:q}"
