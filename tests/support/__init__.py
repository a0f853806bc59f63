"""What several tests share: projects to run, small models, servers, made-up results."""
