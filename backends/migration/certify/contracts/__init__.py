"""The contracts of two rehearsals, compared: what each asked a device for, whatever numbers came of it."""
