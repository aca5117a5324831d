"""The formats of trainers: verl, SkyRL and slime, supervised fine-tuning and preferences."""
