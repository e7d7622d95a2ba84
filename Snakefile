# The workflow lives in workflow/; this file lets Snakemake find it from the checkout's root.
include: "workflow/Snakefile"


# Snakemake takes no default target from an included file.
rule default:
    default_target: True
    input:
        rules.all.input,
